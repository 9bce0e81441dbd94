// The memory browser: records of a shelf, each with a link to the message that wrote it.
import { cap, CaseLink, minute, unnumbered } from "moot-console/words.js";

export const Memory = {
  components: { CaseLink },
  inject: ["ask"],
  props: { view: Object },
  data() { return { items: this.view.items, before: this.view.before, open: "", busy: false, fault: "" }; },
  methods: {
    cap, minute, unnumbered,
    isCase: (l) => l.go === `/case/${l.t}`,
    async more() {
      this.busy = true;
      try { const found = await this.ask("memory", { shelf: this.view.shelf, before: this.before }); this.items = this.items.concat(found.items); this.before = found.before; } catch (e) { this.fault = e.message; }
      this.busy = false;
    },
  },
  template: `<div class="bar" role="tablist" style="min-height:0;padding-block:7px;gap:4px;flex-wrap:wrap"><a v-for="s in view.shelves" role="tab" :aria-selected="s[0] === view.shelf" :href="'/memory/' + s[0]" data-go :class="['btn', 'small', {on: s[0] === view.shelf}]">{{ cap(s[0]) }} <span class="num">{{ s[1] }}</span></a></div>
    <div class="scroll" tabindex="0"><div class="page"><p v-if="fault" class="late">{{ fault }}</p><p v-if="!items.length" class="soft">This shelf is empty.</p>
    <section v-for="r in items" :key="r.key" class="sheet"><div class="l1" style="margin:0"><b :title="r.key">{{ cap(unnumbered(r.key)) }}</b><a class="chip" :href="'/m/' + r.seq" data-go>message {{ r.seq }}</a><span class="left">{{ minute(r.at) }}</span></div>
      <p class="ctx" style="color:var(--ink)">{{ unnumbered(r.text) }}</p><p v-if="r.facts.length" class="soft" style="font-size:12.5px"><template v-for="(f, n) in r.facts">{{ n ? ' · ' : '' }}{{ f[0] }} {{ unnumbered(String(f[1])) }}</template></p>
      <p v-if="r.links.length" style="padding-top:4px"><template v-for="l in r.links"><CaseLink v-if="isCase(l)" :id="l.t"/><a v-else class="chip" :href="l.go" data-go :title="l.t">{{ unnumbered(l.t) }}</a> </template></p></section>
    <button v-if="before" class="btn" :disabled="busy" @click="more">Older ones</button></div></div>`,
};
