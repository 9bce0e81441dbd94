// Why a message says what it says: who wrote it, and every call of a model that was made for it, word for word.
export const Part = {
  props: { p: Object, open: Boolean },
  data() { return { isOpen: this.open }; },
  template: `<details class="part" :open="open" @toggle="isOpen = $event.target.open"><summary>{{ p.name }} <span class="soft num">{{ p.long.toLocaleString("en") }} characters</span></summary>
    <pre v-if="isOpen" class="json" tabindex="0" dir="auto" :aria-label="p.name">{{ p.text || "(empty)" }}</pre></details>`,
};

const SHORT = 1500;

export const Story = {
  components: { Part },
  props: { story: Object, at: String },
  methods: {
    // What was looked for is open: the call that an address names, else the last one of the answer.
    isShown(c) { const own = this.story.calls.filter((one) => !one.other); return this.at ? c.id === this.at : c === own[own.length - 1]; },
    isShort: (p) => p.long < SHORT,
  },
  template: `<div class="story"><p v-if="story.by">{{ story.by }}</p><p v-if="story.sum" class="soft">{{ story.sum }} in all.</p>
    <details v-for="c in story.calls" :key="c.id" class="call" :open="isShown(c)" :data-call="c.id"><summary><b>{{ c.name }}</b><span :class="['word', c.mood]">{{ c.said }}</span><span class="soft">{{ c.model }}</span><span v-if="c.other" class="soft">{{ c.other }}</span></summary>
      <p v-if="c.why" :class="{late: c.mood === 'bad'}">{{ c.why }}</p><p v-for="l in c.lost" class="late">{{ l }}</p>
      <dl class="facts"><div v-for="f in c.facts"><dt>{{ f[0] }}</dt><dd>{{ f[1] }}</dd></div><div><dt>message</dt><dd><a class="link" :href="'/m/' + c.seq" data-go>{{ c.seq }}</a></dd></div></dl>
      <p class="lead">What it was asked</p><p v-if="c.same" class="soft">{{ c.same === 1 ? "The first part is" : "The first " + c.same + " parts are" }} as in the call before.</p>
      <Part v-for="p in c.parts" :p="p" :open="false"/><p v-if="!c.parts.length && !c.same" class="soft">Nothing.</p>
      <p class="lead">What it said</p><Part v-for="p in c.reply" :p="p" :open="isShort(p)"/><p v-if="!c.reply.length" class="soft">Nothing.</p>
      <p v-if="c.whole.length" class="lead">As JSON</p><Part v-for="p in c.whole" :p="p"/>
    </details></div>`,
};

export const CallView = {
  components: { Story },
  props: { view: Object },
  template: `<div class="scroll" tabindex="0"><div class="page"><p style="padding-bottom:10px"><a class="link" href="/calls" data-go>All calls</a></p><Story :story="view.story" :at="view.call"/></div></div>`,
};
