// What waits for an admin: the question, its answers as buttons, free text; and how earlier ones ended.
import { Say } from "moot-console/message.js";
import { CaseLink, minute, remaining, say, titleOf, unnumbered } from "moot-console/words.js";

const One = {
  components: { CaseLink, Say },
  inject: ["ask", "notice", "toast", "confirm"],
  props: { e: Object, now: Number, may: String },
  data: () => ({ text: "", busy: false, reply: null, origins: [] }),
  // What led to the question is one click away.
  async mounted() { try { this.origins = (await this.ask("origins", { id: this.e.id })).filter((o) => o.id !== this.e.id); } catch { /* a convenience: the case's own page says it too */ } },
  computed: {
    left() { return this.e.due ? remaining(Date.parse(this.e.due), this.now) : ""; },
    isLate() { return Boolean(this.e.due) && this.now !== null && Date.parse(this.e.due) < this.now; },
    why() { return this.may || (this.e.answered ? "answered, the referee closes it" : ""); },
  },
  // A card goes when somebody else was first: what this person sent or wrote is answered on the page then.
  beforeUnmount() {
    this.isGone = true;
    if (this.reply && !this.reply.ok) this.notice(this.e.id, this.reply.text);
    else if (!this.busy && this.text.trim()) this.notice(this.e.id, `What you wrote was not sent: “${this.text.trim()}”`, true);
  },
  methods: {
    say, minute, titleOf, unnumbered,
    // An answer cannot be taken back: it is asked for once more, with what it does.
    async choose(o) {
      const silent = this.e.default === o.n ? "This is also what happens if nobody answers." : "";
      if (await this.confirm({ title: `Answer with “${o.label}”?`, text: this.e.trigger, details: [silent, o.does, "The answer closes the question and cannot be taken back."], yes: "Send this answer" })) this.act("answer", { option: o.n, text: null });
    },
    async write() { if (await this.confirm({ title: "Answer in your own words?", text: this.text.trim(), details: [this.e.freely], yes: "Send this answer" })) this.act("answer", { option: null, text: this.text }); },
    async act(kind, fields) {
      this.busy = true;
      try { this.reply = await this.ask("act", { kind, fields: { escalation_id: this.e.id, ...fields }, channel: "#admin" }); if (this.reply.ok) this.text = ""; }
      catch (error) { this.reply = { ok: false, text: error.message }; }
      this.busy = false;
      if (this.isGone && !this.reply.ok) this.notice(this.e.id, this.reply.text);
      else this.toast(this.reply.ok ? (kind === "ack" ? "Acknowledged." : "Your answer is recorded.") : this.reply.text, this.reply.ok);
    },
  },
  template: `<section class="sheet" :id="e.id" :aria-labelledby="'t' + e.id"><div class="l1"><span :class="['level', e.level]">{{ say(e.level).toLowerCase() }}</span>
      <a class="chip" :href="'/case/' + encodeURIComponent(e.id)" data-go>Open the case</a><span class="small idp">{{ e.id }}</span><span v-if="e.acked" class="soft">seen by {{ e.acked }}</span>
      <span v-if="left" :class="['left', {late: isLate}]">{{ isLate ? left : left + ' left, then ' + (e.default === 1 ? 'the first option' : 'option ' + e.default) }}</span></div>
    <h2 :id="'t' + e.id"><Say :text="e.trigger" :own="e.id"/></h2><p class="ctx" tabindex="0"><Say :text="e.context" :own="e.id"/></p>
    <p v-if="origins.length" class="origins"><span class="soft">What led to it:</span> <template v-for="o in origins" :key="o.id"><CaseLink :id="o.id" :lead="titleOf(o.id).startsWith(o.kind) ? '' : o.kind + ': '" :most="60"/> </template></p>
    <div class="options"><button v-for="o in e.options" :key="o.n" class="btn" :disabled="busy || !!why" :title="why" @click="choose(o)">
      <span>{{ o.label }}</span><small>{{ o.n === e.default ? 'taken if nobody answers' : '' }}</small></button></div>
    <form class="freely" @submit.prevent="write"><input type="text" v-model="text" maxlength="20000" :disabled="busy || !!why" :title="why" placeholder="Or answer in your own words" :aria-label="'answer in words: ' + e.trigger" :aria-describedby="e.options.length ? 'w' + e.id : null">
      <button class="btn" :disabled="busy || !!why || !text.trim()" :title="why">Answer</button>
      <button type="button" class="btn" :disabled="busy || !!why || !!e.acked" :title="why || (e.acked ? 'seen by ' + e.acked : '')" @click="act('ack', {})">Acknowledge</button></form>
    <p v-if="e.options.length" :id="'w' + e.id" class="why">{{ e.freely }}</p>
    <p v-if="reply" :class="['why', {late: !reply.ok}]" role="status">{{ reply.text }}</p><p v-else-if="why" class="why">{{ why }}</p>
  </section>`,
};

// A duty of a person in a case of a protocol: its context, its answers as buttons, and its form.
const Duty = {
  components: { CaseLink, Say },
  inject: ["ask", "toast", "confirm"],
  props: { d: Object, now: Number, stop: String },
  data: () => ({ busy: false, reply: null }),
  computed: {
    left() { return this.d.due ? remaining(Date.parse(this.d.due), this.now) : ""; },
    isLate() { return Boolean(this.d.due) && this.now !== null && Date.parse(this.d.due) < this.now; },
    why() { return this.stop || this.d.may; },
  },
  methods: {
    titleOf,
    // An answer cannot be taken back: it is asked for once more, with what it is about.
    async choose(a) {
      const details = [...this.d.context.map(([name, text]) => `${name}: ${text}`), "The answer ends this duty and cannot be taken back."];
      if (!await this.confirm({ title: `Answer with “${a.label}”?`, text: `${this.d.what}, ${titleOf(this.d.case)}`, details, yes: "Send this answer" })) return;
      this.busy = true;
      try { this.reply = await this.ask("fill", { act: a.act, values: a.values, channel: this.d.channel, case: this.d.case }); }
      catch (error) { this.reply = { ok: false, text: error.message }; }
      this.busy = false;
      this.toast(this.reply.ok ? "Your answer is recorded." : this.reply.text, this.reply.ok);
    },
  },
  template: `<section class="sheet duty" :id="d.id" :data-duty="d.id" :aria-labelledby="'t' + d.id"><div class="l1"><span class="level DECISION_NEEDED">decision needed</span>
      <a class="chip" :href="'/case/' + encodeURIComponent(d.case)" data-go>Open the case</a><span class="small idp">{{ d.case }}</span>
      <span v-if="left" :class="['left', {late: isLate}]">{{ isLate ? left : left + ' left, then “' + d.silence + '”' }}</span></div>
    <h2 :id="'t' + d.id">{{ d.what }}: {{ titleOf(d.case) }}</h2>
    <dl v-if="d.context.length" class="plainfacts"><template v-for="c in d.context"><dt>{{ c[0] }}</dt><dd><Say :text="c[1]" :own="d.case"/></dd></template></dl>
    <div v-if="d.answers.length" class="options"><button v-for="a in d.answers" class="btn" :disabled="busy || !!why" :title="why" @click="choose(a)"><span>{{ a.label }}</span></button></div>
    <p class="acts"><a v-for="f in d.forms" class="btn small" :href="f.go" data-go>{{ f.label }}</a></p>
    <p v-if="reply" :class="['why', {late: !reply.ok}]" role="status">{{ reply.text }}</p><p v-else-if="why" class="why">{{ why }}</p>
  </section>`,
};

export const Inbox = {
  components: { CaseLink, Duty, One },
  props: { raised: Array, duties: { type: Array, default: () => [] }, now: Number, may: String, stop: { type: String, default: "" }, building: String },
  computed: {
    open() { return this.raised.filter((e) => !e.how); },
    ended() { return this.raised.filter((e) => e.how).sort((a, b) => (a.ended < b.ended ? 1 : -1)).slice(0, 100); },
  },
  methods: { say, minute, unnumbered },
  mounted() { const id = location.hash.slice(1); if (id) this.$nextTick(() => document.getElementById(id)?.scrollIntoView()); },
  template: `<div class="scroll" tabindex="0"><div class="page"><p v-if="building" class="soft">{{ building }}</p>
    <p v-else-if="!open.length && !duties.length" class="soft" style="padding-bottom:18px">Nothing waits for a person.</p>
    <One v-for="e in open" :key="e.id" :e="e" :now="now" :may="may"/>
    <Duty v-for="d in duties" :key="d.id" :d="d" :now="now" :stop="stop"/>
    <section v-if="ended.length" class="sheet"><h2>Ended</h2><div class="wide" tabindex="0" role="group" aria-label="table"><table class="rows stack"><thead><tr><th>when</th><th>what</th><th>how it ended</th></tr></thead>
      <tbody><tr v-for="e in ended" :key="e.id"><td class="at">{{ minute(e.ended) }}</td><td><a class="link" :href="'/case/' + encodeURIComponent(e.id)" data-go>{{ unnumbered(e.trigger) }}</a> <span class="small idp">{{ e.id }}</span></td>
      <td>{{ e.said }}</td></tr></tbody></table></div></section></div></div>`,
};
