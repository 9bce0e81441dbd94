// What a person may do: the list of acts, and one as a form made of its JSON Schema; checked while one types.
import { blank, Field } from "moot-console/field.js";
import { Say } from "moot-console/message.js";
import { cap, CaseLink, clockTime, titleOf } from "moot-console/words.js";

const WAIT_MS = 300;

// What was filled in is kept over a reload, by the act; it goes when it is done. What was sent keeps its key until there
// is an answer: sent again unchanged, it is done once.
const KEPT = "moot-act ";
const kept = (name) => { try { return JSON.parse(sessionStorage.getItem(KEPT + name)) || {}; } catch { return {}; } };

export const ActList = {
  props: { view: Object, commands: Array, may: String },
  methods: { cap, command(word) { return this.commands.find((c) => c.name === word) || {}; } },
  template: `<div class="scroll" tabindex="0"><div class="page"><section v-for="g in view.groups" :key="g.protocol" class="sheet"><h2>{{ cap(g.protocol) }}</h2>
    <table class="rows"><tbody><tr v-for="a in g.acts" :key="a.name"><td style="width:45%"><a class="link" :href="'/act/' + a.name" data-go>{{ a.title }}</a></td><td><code>{{ command(a.word).usage }}</code><p v-if="command(a.word).may" class="soft">{{ command(a.word).may }}</p></td></tr></tbody></table></section></div></div>`,
};

// What one needs to decide: the case with what was said last, or how the society stands, or the cases to choose from.
export const Context = {
  components: { CaseLink, Say },
  props: { about: Object, facts: { type: Array, default: () => [] }, choices: { type: Array, default: () => [] } },
  methods: { cap, clockTime, titleOf },
  template: `<aside class="sheet context" aria-label="what you need to decide">
    <template v-if="about"><h2>{{ about.title }}</h2><p class="soft small">{{ about.kind }} · {{ about.stands }} · <a class="link" :href="'/case/' + encodeURIComponent(about.id)" data-go>open it</a></p><p class="small idp">{{ about.id }}</p>
      <template v-if="about.opened"><h3>How it began</h3><p dir="auto"><b>{{ about.opened.h || about.opened.n }}</b> <Say :text="about.opened.x" :own="about.id"/></p></template>
      <template v-if="about.options.length"><h3>Its answers</h3><ol class="plainlist"><li v-for="o in about.options">{{ o }}</li></ol></template>
      <h3>Who owes something</h3><p v-if="!about.owed.length" class="soft">Nobody.</p><ul class="plainlist"><li v-for="o in about.owed">{{ o }}</li></ul>
      <template v-if="about.said.length"><h3>Said last</h3><p v-for="m in about.said" :key="m.s" dir="auto" class="last"><a class="soft num" :href="'/m/' + m.s" data-go>{{ clockTime(m.t) }}</a> <b>{{ m.h || m.n }}</b> <Say :text="m.x" :own="about.id"/></p></template></template>
    <template v-if="facts.length"><h2>How things stand</h2><dl class="plainfacts"><template v-for="f in facts"><dt>{{ cap(f[0]) }}</dt><dd>{{ f[1] }}</dd></template></dl></template>
    <template v-if="choices.length"><h2>Choose the case</h2><ul class="plainlist"><li v-for="c in choices" :key="c.id"><a class="link" :href="c.go" data-go :title="c.id">{{ c.title }}</a> <span class="soft small">{{ c.kind }}, {{ c.phase }}</span></li></ul></template></aside>`,
};

export const ActForm = {
  components: { CaseLink, Context, Field },
  inject: ["ask", "toast", "confirm"],
  props: { view: Object, commands: Array, may: String },
  data() { return { values: null, faults: {}, touched: {}, reply: null, busy: false, channel: "", key: "" }; },
  computed: {
    place() { return this.view.act + (this.view.case ? ` ${this.view.case}` : ""); },
    // The case that the form was opened from is filled in; its id is nothing to type.
    asked() { const { schema, given } = this.view; return { ...schema, properties: Object.fromEntries(Object.entries(schema.properties).filter(([k]) => !(k in given))) }; },
    hasContext() { return this.view.about_case || this.view.facts.length || this.view.choices.length; },
    said() { return Object.entries(this.values).filter(([, v]) => v !== null && v !== "" && !(Array.isArray(v) && !v.length)).map(([k, v]) => `${cap(k.replaceAll("_", " "))}: ${typeof v === "string" ? (this.view.given[k] === v ? titleOf(v) : v) : JSON.stringify(v)}`); },
    defs() { return this.view.schema.$defs || {}; },
    why() { return this.may || this.commands.find((c) => c.name === this.view.word)?.may || ""; },
    shown() { return Object.fromEntries(Object.entries(this.faults).filter(([p]) => this.touched.all || this.touched[p.split(".")[0]])); },
    others() { return Object.entries(this.shown).filter(([p]) => !document.getElementById("f-" + p.replaceAll(".", "-"))); },
  },
  created() { const { values, channel, key } = kept(this.place), { places } = this.view; this.values = { ...(values || this.empty()), ...this.view.given }; this.channel = places.includes(channel) ? channel : places[0] || ""; this.key = key || ""; },
  beforeUnmount() { clearTimeout(this.timer); },
  methods: {
    empty() { return { ...blank(this.view.schema, this.defs), ...this.view.given }; },
    keep() { sessionStorage.setItem(KEPT + this.place, JSON.stringify({ values: this.values, channel: this.channel, key: this.key })); },
    change() { this.key = ""; this.reply = null; this.keep(); },
    put(values) {
      for (const k of Object.keys(values)) if (JSON.stringify(values[k]) !== JSON.stringify(this.values[k])) this.touched[k] = true;
      this.values = values;
      this.change();
      clearTimeout(this.timer);
      this.timer = setTimeout(this.check, WAIT_MS);
    },
    async check() { try { this.faults = await this.ask("check", { act: this.view.act, values: this.values }); } catch (e) { this.reply = { ok: false, text: e.message }; } },
    // What cannot be taken back is asked for once more, in full; a form with faults is not.
    async submit() {
      if (this.busy || this.why) return;
      clearTimeout(this.timer);
      await this.check();
      this.touched = { all: true };
      if (Object.keys(this.faults).length) { this.reply = { ok: false, text: "Not sent: some fields are not what this takes." }; this.$nextTick(() => document.querySelector(".form [aria-invalid=true]")?.focus()); return; }
      const isSure = !this.view.confirm || await this.confirm({ title: this.view.confirm, text: this.view.about_case?.title || "", details: [...this.said, "This stands in the log and cannot be taken back."], yes: this.view.title.length < 40 ? `Yes, ${this.view.title[0].toLowerCase()}${this.view.title.slice(1)}` : "Yes, do it" });
      if (isSure) this.send();
    },
    async send() {
      this.busy = true;
      clearTimeout(this.timer);
      this.key = this.key || createRandomUUID();
      this.keep();
      let reply = null;
      while (!reply) {
        try { reply = await this.ask("fill", { act: this.view.act, values: this.values, channel: this.channel, key: this.key, case: this.view.case }); }
        catch (e) { if (e.isLost) this.reply = { ok: false, text: "No answer yet; it is sent again until there is one." }; else reply = { ok: false, text: e.message }; }
      }
      this.change();
      this.reply = reply;
      this.toast(reply.ok ? `Done: ${this.view.title[0].toLowerCase()}${this.view.title.slice(1)}.` : reply.text, reply.ok);
      this.faults = reply.faults || {};
      this.touched = { all: !reply.ok };
      if (reply.ok) { sessionStorage.removeItem(KEPT + this.place); this.values = this.empty(); }
      this.busy = false;
    },
  },
  template: `<div class="scroll" tabindex="0"><div :class="['page', {beside: hasContext}]"><form class="form" @submit.prevent="submit" novalidate>
    <p v-if="view.about_case">About <CaseLink :id="view.case" :most="70"/> <a class="link small" :href="'/act/' + view.act" data-go>choose another</a></p>
    <Field name="" path="" :schema="asked" :defs="defs" required :faults="shown" :modelValue="values" :inert="busy" @update:modelValue="put"/>
    <div v-if="view.places.length"><label for="f-channel">channel <small>where it is said</small></label><select id="f-channel" class="w" v-model="channel" @change="change"><option v-for="c in view.places" :value="c">{{ c }}</option></select></div>
    <p v-else-if="view.place" class="soft">It is said in {{ view.place }}.</p>
    <p v-for="o in others" class="err">{{ o[0] ? o[0] + ": " : "" }}{{ o[1] }}</p>
    <p><button class="btn main" :disabled="busy || !!why" :title="why">Send</button></p><p v-if="why" class="soft">{{ why }}</p>
    <p v-if="reply" :class="{late: !reply.ok}" role="status" style="white-space:pre-wrap">{{ reply.text }} <a v-if="reply.ok && reply.seq" class="chip" :href="'/m/' + reply.seq" data-go>Show it</a></p></form>
    <Context v-if="hasContext" :about="view.about_case" :facts="view.facts" :choices="view.choices"/></div></div>`,
};
