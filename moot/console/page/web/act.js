// What a person may do: the list of acts, and one as a form made of its JSON Schema; checked while one types.
import { blank, Field } from "moot-console/field.js";
import { cap } from "moot-console/words.js";

const WAIT_MS = 300;

// What was filled in is kept over a reload, by the act; it goes when it is done. What was sent keeps its key until there
// is an answer: sent again unchanged, it is done once.
const KEPT = "moot-act ";
const kept = (name) => { try { return JSON.parse(sessionStorage.getItem(KEPT + name)) || {}; } catch { return {}; } };

export const ActList = {
  props: { view: Object, commands: Array, may: String },
  methods: { cap, command(word) { return this.commands.find((c) => c.name === word) || {}; } },
  template: `<div class="scroll" tabindex="0"><div class="page"><section v-for="g in view.groups" :key="g.protocol" class="sheet"><h2>{{ cap(g.protocol) }}</h2>
    <table class="rows"><tbody><tr v-for="a in g.acts" :key="a.name"><td style="width:45%"><a class="link" :href="'/act/' + a.name" data-go>{{ a.title }}</a></td><td><code>{{ command(a.word).usage }}</code><p v-if="command(a.word).may" class="soft">{{ command(a.word).may }}</p></td></tr></tbody></table></section></div></div>`,
};

export const ActForm = {
  components: { Field },
  inject: ["ask"],
  props: { view: Object, commands: Array, may: String },
  data() { return { values: null, faults: {}, touched: {}, reply: null, busy: false, channel: "", key: "" }; },
  computed: {
    defs() { return this.view.schema.$defs || {}; },
    why() { return this.may || this.commands.find((c) => c.name === this.view.word)?.may || ""; },
    shown() { return Object.fromEntries(Object.entries(this.faults).filter(([p]) => this.touched.all || this.touched[p.split(".")[0]])); },
    others() { return Object.entries(this.shown).filter(([p]) => !document.getElementById("f-" + p.replaceAll(".", "-"))); },
  },
  created() { const { values, channel, key } = kept(this.view.act), { places } = this.view; this.values = values || this.empty(); this.channel = places.includes(channel) ? channel : places[0] || ""; this.key = key || ""; },
  beforeUnmount() { clearTimeout(this.timer); },
  methods: {
    empty() { return blank(this.view.schema, this.defs); },
    keep() { sessionStorage.setItem(KEPT + this.view.act, JSON.stringify({ values: this.values, channel: this.channel, key: this.key })); },
    change() { this.key = ""; this.reply = null; this.keep(); },
    put(values) {
      for (const k of Object.keys(values)) if (JSON.stringify(values[k]) !== JSON.stringify(this.values[k])) this.touched[k] = true;
      this.values = values;
      this.change();
      clearTimeout(this.timer);
      this.timer = setTimeout(this.check, WAIT_MS);
    },
    async check() { try { this.faults = await this.ask("check", { act: this.view.act, values: this.values }); } catch (e) { this.reply = { ok: false, text: e.message }; } },
    async send() {
      this.busy = true;
      clearTimeout(this.timer);
      this.key = this.key || createRandomUUID();
      this.keep();
      let reply = null;
      while (!reply) {
        try { reply = await this.ask("fill", { act: this.view.act, values: this.values, channel: this.channel, key: this.key }); }
        catch (e) { if (e.isLost) this.reply = { ok: false, text: "No answer yet; it is sent again until there is one." }; else reply = { ok: false, text: e.message }; }
      }
      this.change();
      this.reply = reply;
      this.faults = reply.faults || {};
      this.touched = { all: !reply.ok };
      if (reply.ok) { sessionStorage.removeItem(KEPT + this.view.act); this.values = this.empty(); }
      this.busy = false;
    },
  },
  template: `<div class="scroll" tabindex="0"><div class="page"><form class="form" @submit.prevent="send" novalidate>
    <Field name="" path="" :schema="view.schema" :defs="defs" required :faults="shown" :modelValue="values" :inert="busy" @update:modelValue="put"/>
    <div v-if="view.places.length"><label for="f-channel">channel <small>where it is said</small></label><select id="f-channel" class="w" v-model="channel" @change="change"><option v-for="c in view.places" :value="c">{{ c }}</option></select></div>
    <p v-else-if="view.place" class="soft">It is said in {{ view.place }}.</p>
    <p v-for="o in others" class="err">{{ o[0] ? o[0] + ": " : "" }}{{ o[1] }}</p>
    <p><button class="btn main" :disabled="busy || !!why" :title="why">Send</button></p><p v-if="why" class="soft">{{ why }}</p>
    <p v-if="reply" :class="{late: !reply.ok}" role="status" style="white-space:pre-wrap">{{ reply.text }} <a v-if="reply.ok && reply.seq" class="chip" :href="'/m/' + reply.seq" data-go>Show it</a></p></form></div></div>`,
};
