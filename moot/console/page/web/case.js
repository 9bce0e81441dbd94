// One case: the path it took, what was said, who owed what and was late, and what it rests on.
import { Chart } from "moot-console/chart.js";
import { Drawing } from "moot-console/drawing.js";
import { Feed } from "moot-console/feed.js";
import { Bars } from "moot-console/message.js";
import { Inbox } from "moot-console/inbox.js";
import { Rows } from "moot-console/table.js";
import { Why } from "moot-console/why.js";
import { CaseLink, minute, remaining, say } from "moot-console/words.js";

const WAIT_MS = 600;

export const CaseView = {
  components: { Bars, CaseLink, Chart, Drawing, Feed, Inbox, Rows, Why },
  inject: ["ask"],
  props: { view: Object, now: Number, live: Boolean, may: String, stop: { type: String, default: "" }, raised: Array, duties: { type: Array, default: () => [] } },
  data() { return { facts: this.view.facts, tab: this.view.facts.opens, fault: "", seen: 0 }; },
  computed: {
    tabs() {
      const found = [["said", "Transcript"], ["why", "Why"]];
      if (this.facts.rounds.length) found.push(["rounds", "Rounds"]);
      if (this.facts.figures.length || this.facts.tables.length) found.push(["rests", this.facts.rests]);
      found.push(["owed", "Duties and states"]);
      return found;
    },
    // States that were not entered are counted, not drawn: they took more rows than the path itself.
    taken() { return this.facts.path.filter((p) => p.seq || p.end); },
    skipped() { return this.facts.path.filter((p) => !p.seq && !p.end).map((p) => p.phase); },
    first() { return this.taken.findIndex((p) => p.seq); },
    due() { return this.duties.filter((d) => d.case === this.view.case); },
    mine() { return this.raised.filter((e) => e.id === this.view.case && !e.how); },
  },
  mounted() { if (this.facts.note) this.changed(); },
  beforeUnmount() { clearTimeout(this.timer); },
  methods: {
    say, minute,
    left(o) { return o.how || (o.due ? remaining(Date.parse(o.due), this.now) : ""); },
    isLate(o) { return o.late || (!o.how && this.now !== null && Date.parse(o.due) < this.now); },
    changed() {
      clearTimeout(this.timer);
      this.timer = setTimeout(async () => { try { this.facts = await this.ask("case", { case: this.view.case }); this.fault = ""; this.seen += 1; if (this.facts.note) this.changed(); } catch (e) { this.fault = e.message; } }, WAIT_MS);
    },
  },
  template: `<div class="bar" style="flex-wrap:wrap"><ol class="path" aria-label="its states and the path it took"><li v-for="(p, n) in taken"><template v-if="p.seq"><span v-if="n > first" class="arrow" aria-hidden="true">→</span><a :href="'/m/' + p.seq" data-go :class="['st', {now: p.now, end: p.end}]" :title="(p.at ? minute(p.at) + ', ' : '') + 'message ' + p.seq">{{ p.phase }}</a></template>
      <span v-else :class="['st', p.end ? 'end' : 'not']" :title="p.end ? '' : 'not entered'">{{ p.phase }}<span v-if="!p.end" class="sr">, not entered</span></span></li><li v-if="skipped.length"><span class="st not" tabindex="0" :title="'not entered: ' + skipped.join(', ')">{{ skipped.length }} {{ skipped.length === 1 ? "state" : "states" }} not entered<span class="sr">: {{ skipped.join(", ") }}</span></span></li></ol>
      <span v-if="facts.label" class="tag by">{{ facts.label }}</span><span v-if="facts.waits" class="level DECISION_NEEDED">waits for a ruling</span>
      </div>
    <nav class="bar crumbs" aria-label="this case and its neighbours"><span class="small idp">{{ view.noun }} {{ view.case }}</span><CaseLink v-if="facts.parent" :id="facts.parent" lead="Part of: "/><CaseLink v-for="c in facts.children.slice(0, 4)" :id="c" lead="Led to: "/><span v-if="facts.children.length > 4" class="soft small">and {{ facts.children.length - 4 }} more</span>
      <span v-if="view.acts.length" class="acts"><a v-for="a in view.acts" class="btn small" :href="a.go" data-go>{{ a.label }}</a></span></nav>
    <p v-if="fault || facts.note" class="tell">{{ fault || facts.note }}</p>
    <div class="bar" role="tablist" style="min-height:0;padding-block:7px;gap:4px"><button v-for="t in tabs" role="tab" :aria-selected="tab === t[0]" :class="['btn', 'small', {on: tab === t[0]}]" @click="tab = t[0]">{{ t[1] }}</button></div>
    <div v-show="tab === 'said'" class="pane"><Feed ref="feed" :window="view.window" place incase :live="live"/></div>
    <div v-if="tab === 'why'" class="scroll" tabindex="0"><Why :id="view.case" :seen="seen"/></div>
    <div v-if="tab === 'owed'" class="scroll" tabindex="0"><div class="page"><section class="sheet"><h2>Who owed what</h2><div class="wide" tabindex="0" role="group" aria-label="table"><table class="rows"><thead><tr><th>seat</th><th>what</th><th>from</th><th>due</th><th>how it ended</th></tr></thead>
      <tbody><tr v-for="o in facts.obligations"><td>{{ o.name }}{{ o.held ? ' (' + o.held + ')' : '' }}</td><td>{{ o.what }}</td><td class="at">{{ minute(o.opened) }}</td><td class="at">{{ minute(o.due) }}</td><td :class="{late: isLate(o)}">{{ left(o) }} <a v-if="o.closed" class="chip" :href="'/m/' + o.closed" data-go>{{ o.closed }}</a></td></tr></tbody></table></div></section>
      <section v-if="facts.targets" class="sheet"><h2>{{ facts.targets.title }}</h2><p class="soft" style="margin:2px 0 10px">{{ facts.targets.note }}</p><Rows :table="facts.targets"/></section>
      <section v-if="facts.states.length" class="sheet"><h2>States</h2><p class="soft" style="margin:2px 0 10px">All states of such a case; dashed ones were not entered.</p><ul class="path"><li v-for="t in facts.states"><span :class="['st', {now: t[2] && !facts.outcome, not: !t[1]}]">{{ t[0] }}<template v-if="t[1] > 1"> {{ t[1] }}×</template></span></li></ul></section>
      <section v-if="facts.late.length" class="sheet"><h2>Who was late</h2><div class="wide" tabindex="0" role="group" aria-label="table"><table class="rows"><tbody><tr v-for="l in facts.late"><td>{{ l.seat }}</td><td>{{ l.step }}</td><td class="late">{{ l.how }}</td><td><a class="chip" :href="'/m/' + l.seq" data-go>{{ l.seq }}</a></td></tr></tbody></table></div></section></div></div>
    <div v-if="tab === 'rests'" class="scroll" tabindex="0"><div class="page"><div v-if="facts.tiles.length" class="tiles"><div v-for="t in facts.tiles" class="tile"><b :class="t[2]">{{ t[1] }}</b><span>{{ t[0] }}</span></div></div>
      <div v-if="facts.pictures.length" class="two" style="margin-bottom:14px"><section v-for="p in facts.pictures" class="sheet"><h2>{{ p.title }}</h2><Drawing :html="p.html"/><p class="soft" style="margin-top:8px">{{ p.note }}</p><details class="soft"><summary>In numbers</summary><Rows :table="p.table"/></details></section></div>
      <section v-for="t in facts.tables" class="sheet"><h2>{{ t.title }}</h2><p v-if="t.note" class="soft" style="margin:4px 0 8px">{{ t.note }}</p><Rows :table="t"/></section>
      <div class="two"><section v-for="f in facts.figures" class="sheet"><h2>{{ f.title }}</h2><p v-if="f.note" class="soft">{{ f.note }}</p><Chart :figure="f"/></section></div></div></div>
    <div v-if="tab === 'rounds'" class="scroll" tabindex="0"><div class="page"><section v-for="r in facts.rounds" class="sheet"><h2>{{ r.title }}</h2>
      <div class="two" style="margin-top:8px"><div><h3>{{ r.left }}</h3><div class="draft"><div v-for="l in r.lines" :class="l[0]">{{ l[1] || ' ' }}</div></div></div><div><h3>{{ r.right }}</h3><p class="ctx" style="max-height:none">{{ r.text }}</p></div></div></section></div></div>
    <div v-if="mine.length || due.length" v-show="tab === 'said'" class="pane below"><Inbox :raised="mine" :duties="due" :now="now" :may="may" :stop="stop" building=""/></div>`,
};
