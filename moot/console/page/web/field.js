// One field of a form, made of its JSON Schema: a text, a number, a choice, a list, a part with fields of its own.
import { say } from "moot-console/words.js";

// What a format or a pattern asks for, as an example.
const AS = { "date-time": "as 2026-11-19T14:30:00Z, UTC", "^[0-9]{4}-W[0-9]{2}$": "a week, as 2026-W47", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "a day, as 2026-11-19" };

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

export const Field = {
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
    note() { const s = this.s; return [this.schema.description || "", this.required ? "" : "may be left out", s.minimum !== undefined || s.maximum !== undefined ? `${s.minimum ?? "…"} to ${s.maximum ?? "…"}` : "", this.texts ? "one a line" : "", this.kind === "string" ? AS[s.format] || AS[s.pattern] || "" : ""].filter(Boolean).join(" · "); },
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
