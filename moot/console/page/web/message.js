// One message: who, when, one sentence, its numbers as bars, its case as a chip, its JSON one click away.
import { CaseLink, clockTime, Marked, nounOf, parts, shortened, titleOf, unnumbered } from "moot-console/words.js";
import { defineAsyncComponent } from "vue";

const TAGS = { violation: "violation", ruling: "ruling", escalation: "escalation", halt: "stop" };
const LONG = 430;

export const Say = {
  components: { Marked },
  props: { text: String, own: String, words: Array },
  // The message's own case is "this debate", other cases are links with their titles.
  computed: {
    parts() {
      const found = parts(this.text || "");
      // "deployment dep_…" with a title that begins with the kind says it once.
      found.forEach((p, n) => {
        const noun = p.id && nounOf(p.id), before = n && found[n - 1];
        if (noun && before?.t && (p.id === this.own || titleOf(p.id).toLowerCase().startsWith(noun))) before.t = before.t.replace(new RegExp(`\\b(?:the )?${noun.replace(/[- ]/g, "[- ]")} $`, "i"), "");
      });
      return found;
    },
  },
  methods: { shortened, titleOf, unnumbered, noun: (id) => `this ${nounOf(id) || "case"}` },
  template: `<template v-for="p in parts"><span v-if="p.id && p.id === own" class="own" :title="p.t">{{ noun(p.id) }}</span><a v-else-if="p.id" class="id" :href="'/case/' + encodeURIComponent(p.id)" data-go :title="titleOf(p.id) + ' (' + p.t + ')'">{{ shortened(titleOf(p.id), 60) }}</a>
    <span v-else-if="p.word" :class="['word', p.word]"><Marked :text="p.t" :words="words"/></span><Marked v-else :text="unnumbered(p.t)" :words="words"/></template>`,
};

export const Bars = {
  props: { bars: Array },
  template: `<ul class="bars"><li v-for="b in bars" :class="{hot: b[2]}"><span>{{ b[0] }}</span>
    <span class="track"><i :style="{width: Math.round(b[1] * 100) + '%'}"></i></span><b>{{ b[3] }}</b></li></ul>`,
};

export const Message = {
  components: { CaseLink, Say, Bars, Story: defineAsyncComponent(async () => (await import("moot-console/story.js")).Story) },
  inject: ["ask", "drawn", "mayWhy"],
  props: { m: Object, cont: Boolean, at: Boolean, whole: Boolean, place: Boolean, incase: Boolean, times: Number, until: String, words: Array },
  data: () => ({ isOpen: false, isLong: false, isAll: false, isWhy: false, story: null, kept: null, fault: "" }),
  computed: {
    tag() { return TAGS[this.m.m] || ""; },
    long() { return this.m.x.length > LONG && !(this.isAll && this.texts.length); },
    texts() { return this.kept?.texts || []; },
  },
  mounted() { if (this.whole && this.m.l) this.all(); },
  methods: {
    clockTime,
    async json() {
      this.isOpen = !this.isOpen;
      if (this.isOpen) await this.keep();
    },
    async why() {
      this.isWhy = !this.isWhy;
      if (!this.isWhy || this.story) return;
      this.fault = "";
      try { this.story = await this.ask("why", { seq: this.m.s }); } catch (e) { this.fault = e.message; }
    },
    async all() { this.isAll = !this.isAll; if (this.isAll) await this.keep(); },
    async keep() {
      if (this.kept) return;
      this.fault = "";
      try { this.kept = await this.ask("message", { seq: this.m.s }); } catch (e) { this.fault = e.message; }
    },
  },
  template: `<article :class="['msg', m.m, {cont, at, human: m.h}]" :style="m.col ? {'--seat': m.col} : null" :id="'m' + m.s" :data-seq="m.s" :data-type="m.y" tabindex="-1">
    <span v-if="!cont && m.h" class="badge" aria-hidden="true">{{ m.h.slice(0, 2).toUpperCase() }}</span><span v-else-if="!cont && m.i" class="badge own" aria-hidden="true">{{ m.i }}</span><img v-else-if="!cont" class="badge" :src="'/pictures/' + m.a + '.png?v=' + drawn" width="32" height="32" alt="">
    <span v-else class="aside" aria-hidden="true">{{ clockTime(m.t) }}</span>
    <div>
      <div v-if="!cont" class="top"><span class="who">{{ m.h ? m.h : m.n }}</span><span v-if="m.h" class="tag">{{ m.n }} on {{ m.p }}</span><span v-if="m.u" class="tag by">{{ m.u }}</span><span v-if="tag" class="tag">{{ tag }}</span>
        <time :datetime="m.t">{{ clockTime(m.t) }}</time>
        <a v-if="place" class="place" :href="'/c/' + m.c.slice(1)" data-go>{{ m.c }}</a>
        <CaseLink v-if="m.k && !incase" :id="m.k"/></div>
      <p v-if="!(isAll && texts.length === 1)" :class="['say', {cut: long && !isLong && !m.l}]"><template v-if="cont && m.u"><span class="tag by">{{ m.u }}</span> </template><Say :text="m.x" :own="m.k || ''" :words="words"/><span v-if="times > 1" class="times">{{ times }} times until {{ clockTime(until) }}</span></p>
      <dl v-if="isAll" class="texts"><template v-for="t in texts"><dt v-if="texts.length > 1">{{ t[0] }}</dt><dd dir="auto">{{ t[1] }}</dd></template><dd v-if="!texts.length" :class="{late: fault}">{{ fault || (kept ? "There is no more." : "one moment …") }}</dd></dl>
      <button v-if="m.l" class="more" :aria-expanded="isAll" @click="all">{{ isAll ? "show less" : "show all" }}</button>
      <button v-else-if="long" class="more" :aria-expanded="isLong" @click="isLong = !isLong">{{ isLong ? "less" : "more" }}</button>
      <Bars v-if="m.b.length" :bars="m.b"/>
      <pre v-if="isOpen" class="json" tabindex="0">{{ kept ? kept.json : fault || "one moment …" }}</pre>
      <section v-if="isWhy" class="whybox" :aria-label="'why message ' + m.s"><Story v-if="story" :story="story"/><p v-else :class="{late: fault}">{{ fault || "one moment …" }}</p></section>
    </div>
    <div class="tools"><span class="sr">message {{ m.s }}, {{ m.w }}</span><button v-if="mayWhy" data-why @click="why" :aria-expanded="isWhy">Why</button><button @click="json" :aria-expanded="isOpen">JSON</button><a :href="'/m/' + m.s" data-go>link</a></div>
  </article>`,
};
