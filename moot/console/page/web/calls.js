// All calls of models: budgets, sums, spend over time, and a table that one filters and goes back in.
import { Chart } from "moot-console/chart.js";
import { Rows } from "moot-console/table.js";
import { CaseLink, minute, plural } from "moot-console/words.js";

const GATHER_MS = 1500;

export const Calls = {
  components: { CaseLink, Chart, Rows },
  inject: ["ask"],
  props: { view: Object, commands: Array, may: String },
  emits: ["go"],
  data() { return { found: this.view, asked: { ...this.view.asked }, items: this.view.items, before: this.view.before, isLonger: false, missed: 0, busy: false, fault: "" }; },
  // A budget is set by the same act as everywhere; who may not is told why.
  computed: { maySet() { return this.may || this.commands.find((c) => c.act === "budget")?.may; } },
  // While the log is being read, the page asks again until all of it is there.
  mounted() { if (this.view.part) this.later(); },
  beforeUnmount() { clearTimeout(this.timer); },
  methods: {
    minute, plural,
    go() { this.$emit("go", "/calls?" + new URLSearchParams(Object.entries(this.asked).filter(([, v]) => v)).toString()); },
    // Who went back in the table is told of new calls and not moved.
    news(cards) {
      const fresh = cards.filter((m) => m.y.startsWith("CALL_")).length;
      if (!fresh) return;
      this.missed += fresh;
      this.later();
    },
    later() { if (!this.timer) this.timer = setTimeout(() => { this.timer = null; this.look(); }, GATHER_MS); },
    async look() {
      try {
        const found = await this.ask("calls", this.view.asked);
        this.found = found;
        if (found.part) this.later();
        if (this.isLonger) return;
        this.items = found.items; this.before = found.before; this.missed = 0; this.fault = "";
      } catch (e) { this.fault = e.message; }
    },
    async latest() { this.isLonger = false; await this.look(); },
    async more() {
      this.busy = true;
      try { const found = await this.ask("calls", { ...this.view.asked, before: this.before }); this.items = this.items.concat(found.items); this.before = found.before; this.isLonger = true; } catch (e) { this.fault = e.message; }
      this.busy = false;
    },
  },
  template: `<div class="scroll" tabindex="0"><div class="page" style="max-width:1240px"><p v-if="fault || found.note" :class="fault ? 'late' : 'soft'" role="status">{{ fault || found.note }}</p>
    <div v-if="found.gauges.length" class="gauges"><section v-for="g in found.gauges" class="sheet"><h2>{{ g.place }}</h2><div v-for="u in g.units" class="gauge"><p>{{ u.text }}</p>
      <span v-if="u.share !== null" :class="['track', {hot: u.hot}]" aria-hidden="true"><i :style="{width: Math.round(u.share * 100) + '%'}"></i></span></div><p v-if="g.free" class="gauge">{{ g.free }}</p></section></div>
    <p style="padding-bottom:12px"><a v-if="!maySet" class="btn small" href="/act/budget" data-go>Set a budget</a><span v-else class="soft">Budgets cannot be set here now: {{ maySet }}</span></p>
    <div class="two" style="margin-bottom:14px"><section class="sheet"><h2>{{ found.spend.title }}</h2><p class="soft">{{ found.spend.note }}</p><Chart v-if="found.spend.x.length" :figure="found.spend"/><p v-else class="soft">Nothing yet.</p></section>
      <div><section v-for="t in found.sums" class="sheet"><h2>{{ t.title }}</h2><Rows :table="t"/></section></div></div>
    <form class="filters" @submit.prevent="go">
      <select v-model="asked.seat" aria-label="seat" @change="go"><option value="">any seat</option><option v-for="s in found.seats" :value="s[0]">{{ s[1] }}</option></select>
      <select v-model="asked.model" aria-label="model" @change="go"><option value="">any model</option><option v-for="m in found.models" :value="m">{{ m }}</option></select>
      <select v-model="asked.state" aria-label="end" @change="go"><option value="">any end</option><option v-for="o in found.states" :value="o[0]">{{ o[1] }}</option></select>
      <input type="text" v-model="asked.case" placeholder="Case" aria-label="case"><button class="btn">Filter</button></form>
    <p v-if="isLonger && missed" style="padding-bottom:8px"><button class="btn small" @click="latest">{{ plural(missed, "new message") }} about calls ↑</button></p>
    <section class="sheet"><h2>Calls</h2><div class="wide" tabindex="0" role="group" aria-label="calls"><table class="rows stack calls"><thead><tr><th>when</th><th>call</th><th>seat</th><th>case</th><th>model</th><th>end</th><th class="num">tokens</th><th class="num">money</th><th class="num">took</th></tr></thead>
      <tbody><tr v-for="c in items" :key="c.id" :data-call="c.id"><td class="at">{{ minute(c.t) }}</td><td><a class="chip" :href="c.go" data-go :title="c.id">{{ c.seq }}</a></td><td>{{ c.seat }}</td><td><CaseLink v-if="c.case" :id="c.case" :most="36"/></td><td>{{ c.model }}</td><td><span :class="['word', c.mood]">{{ c.said }}</span></td><td class="num">{{ c.tokens }}</td><td class="num">{{ c.money }}</td><td class="num">{{ c.took }}</td></tr></tbody></table>
      <p v-if="!items.length" class="soft" style="padding-top:8px">No call like that.</p></div>
      <p v-if="before" style="padding-top:10px"><button class="btn" :disabled="busy" @click="more">Older ones</button></p></section>
    <section class="sheet"><h2>{{ found.cases.title }}</h2><Rows :table="found.cases"/></section></div></div>`,
};
