// Search: text, type, seat, case, channel; found messages are links into the log.
import { Message } from "moot-console/message.js";
import { CaseLink, day } from "moot-console/words.js";

export const Search = {
  components: { CaseLink, Message },
  inject: ["ask"],
  props: { view: Object },
  emits: ["go"],
  data() { return { asked: { ...this.view.asked }, items: this.view.items, before: this.view.before, busy: false, fault: "" }; },
  computed: {
    count() { const n = this.view.total, more = this.view.more ? "more than " : ""; return this.view.isAsked ? `${more}${(this.view.more ? n - 1 : n).toLocaleString("en")} ${n === 1 ? "message" : "messages"} found${this.items.length && this.items.length < n ? `, the newest ${this.items.length} shown` : ""}.` : ""; },
    rows() { let last = ""; return this.items.map((m) => { const d = day(m.t); const found = { m, day: d === last ? "" : d }; last = d; return found; }); },
  },
  mounted() { this.$refs.text.focus(); },
  methods: {
    go() { this.$emit("go", "/search?" + new URLSearchParams(Object.entries(this.asked).filter(([, v]) => v)).toString()); },
    async more() {
      this.busy = true;
      try { const found = await this.ask("search", { ...this.view.asked, before: this.before }); this.items = this.items.concat(found.items); this.before = found.before; } catch (e) { this.fault = e.message; }
      this.busy = false;
    },
  },
  template: `<div class="scroll" tabindex="0"><div class="page" style="padding-bottom:0"><form class="filters" @submit.prevent="go">
      <input ref="text" type="search" v-model="asked.q" placeholder="Words" aria-label="words">
      <select v-model="asked.seat" aria-label="seat" @change="go"><option value="">any seat</option><option v-for="s in view.seats" :value="s[0]">{{ s[1] }}</option></select>
      <select v-model="asked.type" aria-label="type" @change="go"><option value="">any type</option><option v-for="t in view.types" :value="t">{{ t.toLowerCase().replaceAll('_', ' ') }}</option></select>
      <select v-model="asked.channel" aria-label="channel" @change="go"><option value="">any channel</option><option v-for="c in view.channels" :value="c">{{ c }}</option></select>
      <input type="text" v-model="asked.case" placeholder="Case" aria-label="case"><button class="btn main">Search</button></form>
      <p v-if="fault" class="late">{{ fault }}</p><p class="soft" role="status">{{ view.note }}<template v-if="!items.length && view.isAsked">Nothing found. Try fewer words; the last word may be the beginning of one.</template><b v-else-if="view.isAsked" class="count">{{ count }}</b><template v-else>Search all messages that you may read. The address of a search can be shared.</template></p></div>
    <div class="feed"><template v-for="r in rows" :key="r.m.s"><h2 v-if="r.day" class="day">{{ r.day }}</h2><Message :m="r.m" place :words="view.words"/></template></div>
    <p v-if="before" class="page" style="padding-top:0"><button class="btn" :disabled="busy" @click="more">Older ones</button></p></div>`,
};
