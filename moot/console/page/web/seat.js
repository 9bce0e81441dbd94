// What a seat owes, as a form made of the message's JSON Schema; checked while one types.
import { blank, Field } from "moot-console/field.js";
import { Context } from "moot-console/act.js";
import { CaseLink, remaining, say } from "moot-console/words.js";

const WAIT_MS = 300;

// What was filled in is kept over a reload, by what is owed and message type; it goes with the answer.
const KEPT = "moot-seat ";
const kept = (id) => { try { return JSON.parse(sessionStorage.getItem(KEPT + id)) || {}; } catch { return {}; } };
export const forget = (id) => sessionStorage.removeItem(KEPT + id);

export const SeatForm = {
  components: { CaseLink, Context, Field },
  inject: ["ask", "toast", "confirm"],
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
      else if (this.view.confirm && !await this.confirm({ title: this.view.confirm, text: this.view.about, details: ["The answer ends this duty and cannot be taken back."], yes: "Send this answer" })) { this.busy = false; return; }
      else try { this.reply = await this.ask("fulfil", { obligation: this.view.obligation, body: this.body }); } catch (e) { this.reply = { ok: false, text: e.message }; }
      this.toast(this.reply.ok ? `Sent as the ${this.view.seat}.` : this.reply.text, this.reply.ok);
      if (this.reply.ok) forget(this.view.obligation);
      this.busy = false;
    },
  },
  template: `<div class="scroll" tabindex="0"><div :class="['page', {beside: view.about_case}]"><div><p v-if="view.note" class="soft">{{ view.note }}</p>
    <template v-if="schema"><div class="l1" style="display:flex;gap:8px;flex-wrap:wrap;align-items:center;padding-bottom:12px"><span class="soft">{{ left.startsWith('late') ? left : left + ' left' }}</span><CaseLink :id="view.case"/>
      <select v-if="Object.keys(view.schemas).length > 1" v-model="kind" aria-label="what to say"><option v-for="(s, k) in view.schemas" :value="k">{{ k.toLowerCase().replaceAll('_', ' ') }}</option></select>
      <button v-if="!why" type="button" class="btn small" :disabled="isThinking || (reply && reply.ok)" @click="suggest">{{ isThinking ? "The simulated " + view.seat + " thinks …" : "Suggest an answer" }}</button>
      <button v-if="view.examples[kind]" type="button" class="btn small" @click="example">Start from the last one of this seat</button></div>
    <p v-if="told" class="soft" role="status" style="padding-bottom:12px">{{ told }}</p>
    <form class="form" @submit.prevent="send" novalidate><Field name="" path="" :schema="schema" :defs="schema.$defs || {}" required :faults="shown" :modelValue="body" @update:modelValue="put"/>
      <p v-for="o in others" class="err">{{ o[0] || 'the message' }}: {{ o[1] }}</p>
      <p><button class="btn main" :disabled="busy || !!why || (reply && reply.ok)" :title="why">Send as the {{ view.seat }}</button></p><p v-if="why" class="soft">{{ why }}</p>
      <p v-if="reply" :class="{late: !reply.ok}" role="status">{{ reply.text }}</p></form></template></div><Context v-if="view.about_case" :about="view.about_case" :facts="view.facts || []"/></div></div>`,
};
