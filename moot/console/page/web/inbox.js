// What waits for an admin: the question, its answers as buttons, free text; and how earlier ones ended.
import { minute, remaining, say } from "moot-console/words.js";

const One = {
  inject: ["ask", "notice"],
  props: { e: Object, now: Number, may: String },
  data: () => ({ text: "", busy: false, reply: null }),
  computed: {
    left() { return this.e.due ? remaining(Date.parse(this.e.due), this.now) : ""; },
    isLate() { return Boolean(this.e.due) && this.now !== null && Date.parse(this.e.due) < this.now; },
    why() { return this.may || (this.e.answered ? "answered, the referee closes it" : ""); },
  },
  // A card goes when somebody else was first: what this person sent or wrote is answered on the page then.
  beforeUnmount() {
    this.isGone = true;
    if (this.reply?.seq && !this.reply.ok) this.notice(this.e.id, this.reply.text);
    else if (!this.busy && this.text.trim()) this.notice(this.e.id, `What you wrote was not sent: “${this.text.trim()}”`, true);
  },
  methods: {
    say, minute,
    async act(kind, fields) {
      this.busy = true;
      try { this.reply = await this.ask("act", { kind, fields: { escalation_id: this.e.id, ...fields }, channel: "#admin" }); if (this.reply.ok) this.text = ""; }
      catch (error) { this.reply = { ok: false, text: error.message }; }
      this.busy = false;
      if (this.isGone && !this.reply.ok) this.notice(this.e.id, this.reply.text);
    },
  },
  template: `<section class="sheet" :id="e.id" :aria-labelledby="'t' + e.id"><div class="l1"><span :class="['level', e.level]">{{ say(e.level).toLowerCase() }}</span>
      <a class="chip" :href="'/case/' + encodeURIComponent(e.id)" data-go>{{ e.id }}</a><span v-if="e.acked" class="soft">seen by {{ e.acked }}</span>
      <span v-if="left" :class="['left', {late: isLate}]">{{ isLate ? left : left + ' left, then the first option' }}</span></div>
    <h2 :id="'t' + e.id">{{ e.trigger }}</h2><p class="ctx">{{ e.context }}</p>
    <div class="options"><button v-for="(o, n) in e.options" class="btn" :disabled="busy || !!why" :title="why" @click="act('answer', {option: o.n, text: null})">
      <span>{{ o.label }}</span><small>{{ n === 0 ? 'taken if nobody answers' : '' }}</small></button></div>
    <form class="freely" @submit.prevent="act('answer', {option: null, text})"><input type="text" v-model="text" maxlength="20000" :disabled="busy || !!why" :title="why" placeholder="Or answer in your own words" :aria-label="'answer ' + e.id + ' in words'" :aria-describedby="e.options.length ? 'w' + e.id : null">
      <button class="btn" :disabled="busy || !!why || !text.trim()" :title="why">Answer</button>
      <button type="button" class="btn" :disabled="busy || !!why || !!e.acked" :title="why || (e.acked ? 'seen by ' + e.acked : '')" @click="act('ack', {})">Acknowledge</button></form>
    <p v-if="e.options.length" :id="'w' + e.id" class="why">{{ e.freely }}</p>
    <p v-if="reply" :class="['why', {late: !reply.ok}]" role="status">{{ reply.text }}</p><p v-else-if="why" class="why">{{ why }}</p>
  </section>`,
};

export const Inbox = {
  components: { One },
  props: { raised: Array, now: Number, may: String, building: String },
  computed: {
    open() { return this.raised.filter((e) => !e.how); },
    ended() { return this.raised.filter((e) => e.how).sort((a, b) => (a.ended < b.ended ? 1 : -1)).slice(0, 100); },
  },
  methods: { say, minute },
  mounted() { const id = location.hash.slice(1); if (id) this.$nextTick(() => document.getElementById(id)?.scrollIntoView()); },
  template: `<div class="scroll" tabindex="0"><div class="page"><p v-if="building" class="soft">{{ building }}</p>
    <p v-else-if="!open.length" class="soft" style="padding-bottom:18px">Nothing waits for a person.</p>
    <One v-for="e in open" :key="e.id" :e="e" :now="now" :may="may"/>
    <section v-if="ended.length" class="sheet"><h2>Ended</h2><div class="wide" tabindex="0" role="group" aria-label="table"><table class="rows stack"><thead><tr><th>when</th><th>what</th><th>how it ended</th></tr></thead>
      <tbody><tr v-for="e in ended" :key="e.id"><td class="at">{{ minute(e.ended) }}</td><td><a class="chip" :href="'/case/' + encodeURIComponent(e.id)" data-go>{{ e.id }}</a> {{ e.trigger }}</td>
      <td>{{ e.said }}</td></tr></tbody></table></div></section></div></div>`,
};
