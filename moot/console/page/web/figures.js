// Dashboards: tiles, figures and tables that the session computed from the log.
import { Chart } from "moot-console/chart.js";
import { Rows } from "moot-console/table.js";

const AGAIN_MS = 1500;

export const Figures = {
  components: { Chart, Rows },
  props: { view: Object },
  emits: ["again"],
  // While the log is being read the figures are those of a part of it: look again until it is whole.
  mounted() { if (this.view.part) this.timer = setTimeout(() => this.$emit("again"), AGAIN_MS); },
  beforeUnmount() { clearTimeout(this.timer); },
  template: `<div class="scroll" tabindex="0"><div class="page" style="max-width:1240px"><p v-if="view.note" class="soft" style="padding-bottom:12px">{{ view.note }}</p>
    <div v-if="view.tiles.length" class="tiles"><div v-for="t in view.tiles" class="tile"><b :class="t[2]">{{ t[1] }}</b><span>{{ t[0] }}</span></div></div>
    <div class="two" style="margin-bottom:14px"><section v-for="f in view.figures" class="sheet"><h2>{{ f.title }}</h2><p v-if="f.note" class="soft">{{ f.note }}</p><Chart v-if="f.x.length" :figure="f"/><p v-else class="soft">Nothing yet.</p></section></div>
    <section v-for="t in view.tables" class="sheet"><h2>{{ t.title }}</h2><p v-if="t.note" class="soft">{{ t.note }}</p><Rows :table="t"/></section></div></div>`,
};
