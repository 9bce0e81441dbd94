"""Arbiter's models, generated from the JSON Schemas of its files; `generate.py` writes them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from datamodel_code_generator import DataModelType, InputFileType, LiteralType, PythonVersion, generate
from ruff import find_ruff_bin

from moot.arbiter.schemas import names, schema

ROOT: Final = Path(__file__).resolve().parent.parent
MODELS: Final = ROOT / "protocols" / "arbiter" / "generated.py"

HEADER: Final = '''"""What stands in Arbiter's files.

Written by docs/generate.py from `schemas/`: change those, then `make generate`.
"""
'''
BASE: Final = "moot.protocols.arbiter.record.Record"


def models_text() -> str:
    """Return the module of the models: a class for each object of a schema, an alias for each other definition."""
    found = generate(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": dict(_definitions())},
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        base_class=BASE,
        aliases={"_readme": "readme"},
        custom_file_header=HEADER,
        enum_field_as_literal=LiteralType.All,
        formatters=[],
        model_extra_keys={"if", "then", "else", "x-nullable"},
        skip_root_model=True,
        use_annotated=True,
        use_field_description=True,
        use_schema_description=True,
        use_single_line_docstring=True,
        use_standard_collections=True,
        use_type_alias=True,
        use_union_operator=True,
    )
    assert isinstance(found, str)
    return _formatted(_as_here(found))


def _as_here(text: str) -> str:
    """Write aliases that stay what they stand for, and lists that cannot change."""
    text = re.sub(r'^(\w+) = TypeAliasType\("\1", (.*)\)$', r"\1 = \2", text, flags=re.MULTILINE)
    text = text.replace("from typing_extensions import TypeAliasType\n", "")
    return re.sub(r"\blist\[([^\[\]]*)\]", r"tuple[\1, ...]", text)


def _formatted(text: str) -> str:
    for command in (["check", "--fix-only", "--quiet"], ["format", "--quiet"]):
        told = [find_ruff_bin(), *command, "--stdin-filename", str(MODELS), "-"]
        text = subprocess.run(told, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def _definitions() -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for file in names():
        whole = schema(file)
        parts = {**whole.get("$defs", {})}
        if title := whole.get("title"):
            parts[title] = {
                key: value
                for key, value in whole.items()
                if key[0] != "$" and key not in ("title", "examples")
            }
        for name, part in parts.items():
            if name in seen:
                raise SystemExit(f"{file}: {name} is defined twice: choose another name")
            seen.add(name)
            yield name, _local(part)


def _local(part: Any) -> Any:
    """Point references of a part into the one document, and leave out what every Record keeps to: no other fields."""
    if isinstance(part, list):
        return [_local(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: re.sub(r"^.*#", "#", value) if key == "$ref" else _local(value)
        for key, value in part.items()
        if not (key in ("additionalProperties", "unevaluatedProperties") and value is False)
    }
