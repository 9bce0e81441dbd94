// Right: open escalations and who owes what, counted down in the society's time.
import { cap, remaining, say, shortened, titleOf, unnumbered } from "moot-console/words.js";

const MOST = 40;

export const Board = {
  props: { owed: Array, raised: Array, duties: { type: Array, default: () => [] }, now: Number, building: String, past: Boolean },
  computed: {
    open() { return this.raised.filter((e) => !e.how); },
    shown() { return this.owed.slice(0, MOST); },
  },
  methods: {
    cap, say, shortened, titleOf, unnumbered,
    left(o) { return o.due ? remaining(Date.parse(o.due), this.now) : ""; },
    isLate(o) { return Boolean(o.due) && this.now !== null && Date.parse(o.due) < this.now; },
  },
  template: `<aside class="board" aria-label="who owes what">
    <p v-if="building" class="none" style="padding-top:14px">{{ building }}</p>
    <h2>Waits for a person <span>{{ open.length + duties.length || "" }}</span></h2>
    <a v-for="e in open" :key="e.id" class="row esc" :href="'/inbox#' + e.id" data-go><span class="l1"><span :class="['level', e.level]">{{ say(e.level).toLowerCase() }}</span>
      <span :class="['left', 'num', {late: isLate(e)}]">{{ left(e) }}</span></span><span class="l2">{{ shortened(unnumbered(e.trigger), 120) }}</span></a>
    <a v-for="d in duties" :key="d.id" class="row esc" :href="'/inbox#' + d.id" data-go :data-owed="d.id"><span class="l1"><span class="level DECISION_NEEDED">decision needed</span>
      <span :class="['left', 'num', {late: isLate(d)}]">{{ left(d) }}</span></span><span class="l2">{{ d.what }} · <span :title="d.case">{{ shortened(titleOf(d.case), 90) }}</span></span></a>
    <p v-if="!open.length && !duties.length && !building" class="none">Nothing.</p>
    <h2>Owed <span>{{ owed.length || "" }}</span></h2>
    <a v-for="o in shown" :key="o.id" class="row" :href="o.mine ? '/seat/' + encodeURIComponent(o.id) : '/case/' + encodeURIComponent(o.case)" data-go :data-owed="o.id">
      <span class="l1"><b><i v-if="o.col" class="seatdot" :style="{background: o.col}" aria-hidden="true"></i>{{ o.name }}</b><span :class="['left', {late: isLate(o)}]">{{ left(o) }}</span></span>
      <span class="l2"><template v-if="o.mine">yours to answer: </template><template v-if="o.model">{{ o.model }} · </template>{{ o.what }} · <span :title="o.case">{{ shortened(titleOf(o.case), 70) }}</span></span></a>
    <p v-if="owed.length > shown.length" class="none">and {{ owed.length - shown.length }} more</p>
    <p v-if="!owed.length && !building" class="none">Nobody owes anything.</p>
  </aside>`,
};
