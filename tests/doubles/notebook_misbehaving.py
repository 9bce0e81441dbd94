"""An MCP server of another maker, as a process: `python tests/doubles/notebook_misbehaving.py FAULT...`.

It speaks the older protocol by hand, so that it can break every promise. Faults on the command line hold always;
a query may also ask for one, by naming it.

Faults: silent, mute-discover, no-query, no-describe, no-studio, stubborn, chatter, takes-id.
Queries: hang, slow, die, garbage, refuse, error, shape, schema, empty, text, json, blocks, env, many.
"""

import json
import os
import signal
import sys
import threading
import time

FAULTS = frozenset(sys.argv[1:])
lock = threading.Lock()


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tools():
    names = ["notebook_describe", "notebook_query", "studio_create", "other_read", "other_write"]
    for name in names:
        if f"no-{name.split('_')[1 if name.startswith('notebook') else 0]}" in FAULTS:
            continue
        properties = {"query": {"type": "string"}} if name == "notebook_query" else {}
        if "takes-id" in FAULTS and name == "notebook_query":
            properties["notebook_id"] = {"type": "string"}
        tool = {"name": name, "inputSchema": {"type": "object", "properties": properties}}
        if name == "notebook_query":
            tool["outputSchema"] = {
                "type": "object",
                "properties": {"passages": {}, "n": {"type": "integer"}},
            }
        if name == "other_read":
            tool["annotations"] = {"readOnlyHint": True}
        yield tool


def text(*blocks, **more):
    return {"content": [{"type": "text", "text": block} for block in blocks], **more}


def structured(value):
    return text(json.dumps(value), structuredContent=value)


def query(number, arguments):
    asked = arguments.get("query", "")
    if asked == "hang":
        return
    if asked == "die":
        sys.stderr.write("warming up\nout of ink\n")
        sys.stderr.flush()
        os._exit(7)
    if asked == "garbage":
        sys.stdout.write("<html>{]\n")
        sys.stdout.flush()
        return
    if asked == "error":
        send({"id": number, "error": {"code": -32000, "message": "no such\nnotebook"}})
        return
    if asked == "slow":
        time.sleep(0.5)
    answers = {
        "refuse": text("the librarian says no", isError=True),
        "shape": structured({"passages": 5}),
        "schema": structured({"n": "not a number"}),
        "empty": text("", structuredContent={"passages": []}),
        "many": structured({"passages": [{"ref": f"r{n}", "text": "t"} for n in range(9)]}),
        "args": structured({"passages": [json.dumps(arguments, sort_keys=True)]}),
        "env": structured({"passages": [json.dumps(dict(os.environ))]}),
    }
    passage = {"passages": [{"ref": f"pid {os.getpid()}", "text": "an answer", "score": 1}]}
    send({"id": number, "result": answers.get(asked, structured(passage))})


def answer(message):
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if number is None or "silent" in FAULTS or (method == "server/discover" and "mute-discover" in FAULTS):
        return
    if method == "initialize":
        about = {"name": "other maker", "version": "0"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        send({"id": number, "result": result})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": list(tools())}})
    elif method == "tools/call" and params["name"] == "notebook_query":
        threading.Thread(target=query, args=(number, params.get("arguments") or {}), daemon=True).start()
    elif method == "tools/call" and params["name"] == "notebook_describe":
        send({"id": number, "result": text("A box of cards.")})
    elif method == "tools/call":
        send({"id": number, "result": text(f"{params['name']} ran")})
    else:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def main():
    if "stubborn" in FAULTS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "chatter" in FAULTS:
        sys.stdout.write("welcome to the other maker's server\n")
        sys.stdout.flush()
    for line in sys.stdin:
        answer(json.loads(line))
    while "stubborn" in FAULTS:
        time.sleep(60)


if __name__ == "__main__":
    main()
