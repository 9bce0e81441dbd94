// Why something came about: decisions with their figures, tables and rows, objections, the admin, what followed. Ids lead on.
import { Rows } from "moot-console/table.js";
import { Say } from "moot-console/message.js";
import { minute, titleOf } from "moot-console/words.js";

const Told = {
  components: { Say },
  props: { one: Object },
  methods: { minute },
  template: `<p class="told"><a class="chip" :href="'/m/' + one.seq" data-go :title="minute(one.at)">{{ one.seq }}</a> <span class="soft">{{ minute(one.at).slice(5) }}</span> <b>{{ one.by }}</b> <span dir="auto"><Say :text="one.text" own=""/></span></p>`,
};

export const Why = {
  components: { Rows, Told },
  inject: ["ask"],
  props: { id: String, seen: Number },
  data() { return { why: null, at: this.id, fault: "" }; },
  watch: { seen() { if (this.at === this.id) this.load(this.id); } },
  mounted() { this.load(this.id); },
  methods: {
    async load(id) { this.at = id; try { this.why = await this.ask("explain", { id }); this.fault = ""; } catch (e) { this.fault = e.message; } },
    titleOf,
    relevant: (table) => ({ head: table.head, rows: [table.rows[table.on]] }),
  },
  template: `<div class="page whys"><p v-if="fault" class="tell">{{ fault }}</p><template v-if="why"><p v-if="at !== id" style="padding-bottom:10px"><button class="btn small" @click="load(id)">Back to {{ titleOf(id) }}</button></p>
    <section class="sheet"><h2>{{ why.kind }}: {{ titleOf(why.case || why.id) }}<template v-if="why.came"> → {{ why.came }}</template></h2><p class="small idp">{{ why.case || why.id }}</p><Told v-for="s in why.about" :one="s"/><Told :one="why.opened"/></section>
    <section class="sheet"><h2>What was decided</h2><p v-if="!why.decided.length" class="soft">Nothing yet.</p>
      <div v-for="d in why.decided" class="decision"><Told :one="d"/><p v-if="d.broke" class="late">Counts for nothing: {{ d.broke }}</p>
        <ul v-if="d.held.length" class="held"><li v-for="h in d.held"><span :class="['word', h[0] ? 'good' : 'bad']">{{ h[0] ? "yes" : "no" }}</span> {{ h[1] }} <b>{{ h[2] }}</b>, {{ h[3] }} {{ h[4] }}</li></ul>
        <template v-if="d.table"><p class="soft">Decision table: {{ d.table.title }}</p><Rows :table="relevant(d.table)"/><details class="soft"><summary>The whole table; the first row that matches applies</summary><Rows :table="d.table"/></details></template>
        <p v-if="d.row" class="soft">{{ d.row.where }} → {{ d.row.to }}<template v-if="d.row.says">. {{ d.row.says }}</template></p></div></section>
    <section class="sheet"><h2>Who objected</h2><p v-if="!why.objected.length" class="soft">Nobody did.</p><div v-for="o in why.objected" class="decision"><Told :one="o"/><ul v-if="o.texts.length"><li v-for="t in o.texts" dir="auto">{{ t }}</li></ul></div></section>
    <section class="sheet"><h2>What the admin said</h2><p v-if="why.unheard" class="soft">{{ why.unheard }}</p><p v-for="l in why.asked"><button class="chip" :title="l.id" @click="load(l.id)">{{ titleOf(l.id) }}</button> {{ l.kind }}<template v-if="l.came">: {{ l.came }}</template></p><Told v-for="s in why.people" :one="s"/></section>
    <section v-if="why.followed.length" class="sheet"><h2>What followed</h2><Told v-for="s in why.followed" :one="s"/></section>
    <section v-if="why.links.length" class="sheet"><h2>The same story</h2><p v-for="l in why.links"><button class="chip" :title="l.id" @click="load(l.id)">{{ titleOf(l.id) }}</button> {{ l.kind }}<template v-if="l.came">: {{ l.came }}</template></p><p v-if="why.rest" class="soft">And {{ why.rest }} more: moot why names them.</p></section></template></div>`,
};
