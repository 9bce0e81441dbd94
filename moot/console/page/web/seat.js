// What a seat owes, as a form made of the message's JSON Schema; checked while one types.
import { remaining, say } from "moot-console/words.js";

const WAIT_MS = 300;

// What a format or a pattern asks for, as an example.
const AS = { "date-time": "as 2026-11-19T14:30:00Z, UTC", "^[0-9]{4}-W[0-9]{2}$": "a week, as 2026-W47", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "a day, as 2026-11-19" };

// What was filled in is kept over a reload, by what is owed and message type; it goes with the answer.
const KEPT = "moot-seat ";
const kept = (id) => { try { return JSON.parse(sessionStorage.getItem(KEPT + id)) || {}; } catch { return {}; } };
export const forget = (id) => sessionStorage.removeItem(KEPT + id);

function resolve(schema, defs) {
  let s = schema || {};
  while (s.$ref) s = { ...defs[s.$ref.split("/").pop()], ...Object.fromEntries(Object.entries(s).filter(([k]) => k !== "$ref")) };
  if (s.allOf?.length === 1) s = { ...resolve(s.allOf[0], defs), ...s };
  if (s.anyOf) { const some = s.anyOf.filter((o) => o.type !== "null"); s = { ...s, ...resolve(some[0], defs), anyOf: undefined, nullable: some.length < s.anyOf.length }; }
  return s;
}

export function blank(schema, defs, isGiven = true) {
  const s = resolve(schema, defs);
  if (s.const !== undefined) return s.const;
  if (s.default !== undefined) return JSON.parse(JSON.stringify(s.default));
  if (!isGiven || s.nullable) return null;
  if (s.type === "object") return Object.fromEntries(Object.entries(s.properties || {}).map(([k, v]) => [k, blank(v, defs, (s.required || []).includes(k))]));
  if (s.type === "array") return [];
  if (s.type === "boolean") return false;
  return s.enum || s.type === "string" ? "" : null;
}

const Field = {
  name: "Field",
  props: { name: String, path: String, schema: Object, defs: Object, modelValue: null, required: Boolean, faults: Object },
  emits: ["update:modelValue"],
  computed: {
    s() { return resolve(this.schema, this.defs); },
    kind() { const s = this.s; return this.options ? "enum" : s.type === "object" && s.properties ? "object" : s.type === "object" ? "map" : s.type; },
    options() {
      const some = (this.schema.anyOf || [this.schema]).map((o) => resolve(o, this.defs)).filter((o) => o.type !== "null");
      const all = some.map((o) => o.enum || (o.const !== undefined ? [o.const] : null));
      return all.length > 1 || all[0]?.length > 1 ? (all.every(Boolean) ? all.flat() : null) : this.s.enum || null;
    },
    fault() { return this.faults[this.path] || ""; },
    id() { return "f-" + this.path.replaceAll(".", "-"); },
    note() { const s = this.s; return [this.required ? "" : "may be left out", s.minimum !== undefined || s.maximum !== undefined ? `${s.minimum ?? "…"} to ${s.maximum ?? "…"}` : "", this.texts ? "one a line" : "", this.kind === "string" ? AS[s.format] || AS[s.pattern] || "" : ""].filter(Boolean).join(", "); },
    texts() { return this.kind === "array" && resolve(this.s.items, this.defs).type === "string" && !resolve(this.s.items, this.defs).enum; },
    pairs() { return Object.entries(this.modelValue || {}); },
  },
  methods: {
    say,
    put(v) { this.$emit("update:modelValue", v); },
    pick(text) { this.put(text === "" ? null : this.options.find((o) => String(o) === text)); },
    set(k, v) { this.put({ ...(this.modelValue || {}), [k]: v }); },
    at(n, v) { const a = [...this.modelValue]; a[n] = v; this.put(a); },
    add() { this.put([...(this.modelValue || []), blank(this.s.items, this.defs)]); },
    number(text) { this.put(text === "" ? null : Number(text)); },
    json(text) { try { this.put(JSON.parse(text)); } catch { this.put(text); } },
    req(k) { return (this.s.required || []).includes(k); },
  },
  template: `<div v-if="s.const === undefined" :class="{'f-small': ['enum', 'boolean', 'number', 'integer'].includes(kind)}"><label v-if="name" :for="id">{{ say(name) }} <small>{{ note }}</small></label>
    <select v-if="kind === 'enum'" class="w" :id="id" :value="modelValue ?? ''" :aria-invalid="!!fault" @change="pick($event.target.value)"><option value="">choose</option><option v-for="o in options" :value="o">{{ o }}</option></select>
    <select v-else-if="kind === 'boolean'" class="w" :id="id" :value="String(modelValue)" :aria-invalid="!!fault" @change="put($event.target.value === 'null' ? null : $event.target.value === 'true')"><option value="null">choose</option><option value="true">yes</option><option value="false">no</option></select>
    <input v-else-if="kind === 'number' || kind === 'integer'" class="w" type="number" :step="kind === 'integer' ? 1 : 'any'" :min="s.minimum" :max="s.maximum" :id="id" :value="modelValue" :aria-invalid="!!fault" @input="number($event.target.value)">
    <div v-else-if="kind === 'object'" :class="['fields', {obj: name}]"><button v-if="modelValue === null || modelValue === undefined" type="button" class="btn small" @click="put(Object.fromEntries(Object.entries(s.properties).map(([k, v]) => [k, null])))">Fill in</button>
      <template v-else><Field v-for="(v, k) in s.properties" :key="k" :name="k" :path="path ? path + '.' + k : k" :schema="v" :defs="defs" :required="req(k)" :faults="faults" :modelValue="modelValue[k]" @update:modelValue="set(k, $event)"/></template></div>
    <textarea v-else-if="texts" class="w" rows="3" :id="id" :aria-invalid="!!fault" :value="(modelValue || []).join('\\n')" @input="put($event.target.value ? $event.target.value.split('\\n') : [])"></textarea>
    <div v-else-if="kind === 'array'" class="fields obj"><div v-for="(v, n) in modelValue || []" :key="n"><Field name="" :path="path + '.' + n" :schema="s.items" :defs="defs" required :faults="faults" :modelValue="v" @update:modelValue="at(n, $event)"/><span><button type="button" class="btn small" @click="put(modelValue.filter((_, k) => k !== n))">Remove</button></span></div><span><button type="button" class="btn small" :id="id" @click="add">Add one</button></span></div>
    <textarea v-else-if="kind === 'map' || !kind" class="w" rows="4" :id="id" :aria-invalid="!!fault" :value="typeof modelValue === 'string' ? modelValue : JSON.stringify(modelValue ?? {}, null, 1)" @input="json($event.target.value)"></textarea>
    <textarea v-else-if="s.maxLength > 300" class="w" rows="3" :id="id" :aria-invalid="!!fault" :value="modelValue ?? ''" :maxlength="s.maxLength" @input="put($event.target.value)"></textarea>
    <input v-else class="w" type="text" :id="id" :aria-invalid="!!fault" :value="modelValue ?? ''" :maxlength="s.maxLength" @input="put($event.target.value)">
    <p v-if="fault" class="err">{{ fault }}</p></div>`,
};

export const SeatForm = {
  components: { Field },
  inject: ["ask"],
  props: { view: Object, may: String, now: Number },
  data() { const all = Object.keys(this.view.schemas), last = kept(this.view.obligation).kind, kind = all.includes(last) ? last : all[0] || ""; return { kind, body: null, faults: {}, rest: "", reply: null, busy: false, touched: {}, isThinking: false, told: "" }; },
  computed: {
    schema() { return this.view.schemas[this.kind]; },
    left() { return this.view.due ? remaining(Date.parse(this.view.due), this.now) : ""; },
    why() { return this.may || this.view.why; },
    shown() { return Object.fromEntries(Object.entries(this.faults).filter(([p]) => this.touched.all || this.touched[p.split(".")[0]])); },
    others() { return Object.entries(this.shown).filter(([p]) => !document.getElementById("f-" + p.replaceAll(".", "-"))); },
  },
  watch: { kind: { immediate: true, handler() { if (this.skip) { this.skip = false; return; } this.begin(); } } },
  beforeUnmount() { clearTimeout(this.timer); },
  methods: {
    say,
    // Goes on with what was written here before, or begins with an empty form.
    begin() {
      const before = kept(this.view.obligation).bodies?.[this.kind];
      this.start(before || blank(this.schema, this.schema?.$defs || {}));
      if (before) { this.touched = { all: true }; this.told = "What you had filled in is back."; }
    },
    keep() { const id = this.view.obligation; sessionStorage.setItem(KEPT + id, JSON.stringify({ kind: this.kind, bodies: { ...kept(id).bodies, [this.kind]: this.body } })); },
    start(body) { if (!this.schema) return; this.body = { ...body, type: this.kind, ...this.view.given[this.kind] }; this.touched = {}; this.check(); },
    example() { this.start(JSON.parse(JSON.stringify(this.view.examples[this.kind]))); this.keep(); },
    async suggest() {
      this.isThinking = true;
      this.told = "";
      const before = JSON.stringify(this.body);
      try {
        const found = await this.ask("suggest", { obligation: this.view.obligation });
        // What the person has written meanwhile is not thrown away.
        if (JSON.stringify(this.body) !== before) this.told = "You went on writing: nothing was filled in.";
        else {
          this.skip = this.kind !== found.kind;
          this.kind = found.kind;
          this.start(found.body);
          this.keep();
          this.told = `Filled in as the simulated ${this.view.seat} would say it. Change what you like.`;
        }
      } catch (e) { this.told = e.message; }
      this.isThinking = false;
    },
    put(body) { for (const k of Object.keys(body)) if (JSON.stringify(body[k]) !== JSON.stringify(this.body[k])) this.touched[k] = true; this.body = body; this.keep(); this.reply = null; clearTimeout(this.timer); this.timer = setTimeout(this.check, WAIT_MS); },
    async check() { try { this.faults = await this.ask("check", { kind: this.kind, body: this.body }); } catch (e) { this.reply = { ok: false, text: e.message }; } },
    async send() {
      this.touched = { all: true };
      this.busy = true;
      clearTimeout(this.timer);
      await this.check();
      if (Object.keys(this.faults).length) this.reply = { ok: false, text: "Not sent: some fields are not what this message takes." };
      else try { this.reply = await this.ask("fulfil", { obligation: this.view.obligation, body: this.body }); } catch (e) { this.reply = { ok: false, text: e.message }; }
      if (this.reply.ok) forget(this.view.obligation);
      this.busy = false;
    },
  },
  template: `<div class="scroll" tabindex="0"><div class="page"><p v-if="view.note" class="soft">{{ view.note }}</p>
    <template v-if="schema"><div class="l1" style="display:flex;gap:8px;flex-wrap:wrap;align-items:center;padding-bottom:12px"><span class="soft">{{ left.startsWith('late') ? left : left + ' left' }}</span><a class="chip" :href="'/case/' + encodeURIComponent(view.case)" data-go>{{ view.case }}</a>
      <select v-if="Object.keys(view.schemas).length > 1" v-model="kind" aria-label="what to say"><option v-for="(s, k) in view.schemas" :value="k">{{ k.toLowerCase().replaceAll('_', ' ') }}</option></select>
      <button v-if="!why" type="button" class="btn small" :disabled="isThinking || (reply && reply.ok)" @click="suggest">{{ isThinking ? "The simulated " + view.seat + " thinks …" : "Suggest an answer" }}</button>
      <button v-if="view.examples[kind]" type="button" class="btn small" @click="example">Start from the last one of this seat</button></div>
    <p v-if="told" class="soft" role="status" style="padding-bottom:12px">{{ told }}</p>
    <form class="form" @submit.prevent="send" novalidate><Field name="" path="" :schema="schema" :defs="schema.$defs || {}" required :faults="shown" :modelValue="body" @update:modelValue="put"/>
      <p v-for="o in others" class="err">{{ o[0] || 'the message' }}: {{ o[1] }}</p>
      <p><button class="btn main" :disabled="busy || !!why || (reply && reply.ok)" :title="why">Send as the {{ view.seat }}</button></p><p v-if="why" class="soft">{{ why }}</p>
      <p v-if="reply" :class="{late: !reply.ok}" role="status">{{ reply.text }}</p></form></template></div></div>`,
};
