// Where a person writes: notes, and commands with completion. What was not sent is kept over a reload.
// Each channel and each case has a draft of its own.
import { shortened, titleOf } from "moot-console/words.js";

const KEPT = "moot-draft ";
const kept = (place) => sessionStorage.getItem(KEPT + place) || "";
const keep = (place, text) => { if (text) sessionStorage.setItem(KEPT + place, text); else sessionStorage.removeItem(KEPT + place); };
// What was sent is kept with its key until there is an answer, and said again with it by a page that was loaded anew:
// however often, it is done once. What is older than this waits in its box for the person.
const SENT = "moot-sent";
const AGAIN_MS = 10 * 60 * 1000;
const unanswered = () => JSON.parse(sessionStorage.getItem(SENT));

export const Compose = {
  inject: ["ask"],
  props: { channel: String, about: String, commands: Array, may: String, noteMay: String, seats: Array },
  data() { return { text: kept(this.about || this.channel), reply: null, busy: false, pick: 0, isShut: false }; },
  computed: {
    place() { return this.about || this.channel; },
    hints() {
      if (!this.text.startsWith("/") || this.isShut || this.text.includes("\n")) return [];
      const [word, ...rest] = this.text.slice(1).split(" ");
      if (rest.length === 1 && this.commands.some((c) => c.seat && c.name === word)) return this.seats.filter((s) => s.startsWith(rest[0]) && s !== rest[0]).map((s) => ({ put: `/${word} ${s}`, usage: `/${word} ${s}`, does: "" }));
      if (rest.length) return [];
      return this.commands.filter((c) => c.name.startsWith(word.toLowerCase())).map((c) => ({ put: `/${c.name}${c.asks ? "" : " "}`, usage: c.usage, does: c.may ? c.may : c.does, may: c.may }));
    },
    usage() { const word = this.text.startsWith("/") && this.text.slice(1).split(" ")[0]; return this.commands.find((c) => c.name === word); },
    blocked() { return this.text.startsWith("/") ? (this.usage ? this.usage.may : "") : this.noteMay; },
    form() { return this.usage && !this.usage.asks && !this.blocked ? "/act/" + this.usage.act : ""; },
    hint() { return this.blocked || (this.usage ? `${this.usage.usage}: ${this.usage.does}` : ""); },
  },
  watch: {
    place(now, before) { keep(before, this.text); this.text = kept(now); this.reply = null; },
    may(why) { if (why) this.reply = null; },
    text(t) { keep(this.place, t); this.pick = 0; this.isShut = false; this.$nextTick(this.grow); if (t) this.reply = null; },
  },
  mounted() { this.grow(); const sent = unanswered(); if (sent && Date.now() - sent.at < AGAIN_MS) this.deliver(sent); },
  methods: {
    shortened, titleOf,
    grow() { const e = this.$refs.text; if (!e) return; e.style.height = "auto"; e.style.height = Math.min(e.scrollHeight, 160) + "px"; },
    focus() { this.$refs.text?.focus(); },
    take(h) { this.text = h.put; this.focus(); },
    key(e) {
      const n = this.hints.length;
      if (n && (e.key === "ArrowDown" || e.key === "ArrowUp")) { this.pick = (this.pick + (e.key === "ArrowDown" ? 1 : n - 1)) % n; e.preventDefault(); }
      else if (n && (e.key === "Tab" || (e.key === "Enter" && this.hints[this.pick].put.trim() !== this.text.trim()))) { this.take(this.hints[this.pick]); e.preventDefault(); }
      else if (e.key === "Escape") { if (n) { this.isShut = true; e.stopPropagation(); } else e.target.blur(); }
      else if (e.key === "Enter" && !e.shiftKey && !e.isComposing) { e.preventDefault(); this.send(); }
    },
    // Begins a command, unless something else is being written here; says whether it did.
    begin(command) { const isFree = !this.text.trim() || this.text.startsWith("/"); if (isFree) this.text = command; this.$nextTick(this.focus); return isFree; },
    send() {
      const text = this.text.trim(), place = this.place, last = unanswered();
      if (!text || this.busy || this.blocked) return;
      const sent = last?.text === text && last.place === place ? last : { text, place, channel: this.channel, about: this.about || null, key: createRandomUUID() };
      sessionStorage.setItem(SENT, JSON.stringify({ ...sent, at: Date.now() }));
      this.deliver(sent);
    },
    async deliver(sent) {
      this.busy = true;
      let reply = null;
      while (!reply) {
        try { reply = await this.ask("say", sent); }
        catch (e) { if (e.isLost) this.reply = { ok: false, text: "No answer yet; it is sent again until there is one." }; else reply = { ok: false, text: e.message }; }
      }
      if (unanswered()?.key === sent.key) sessionStorage.removeItem(SENT);
      if (reply.ok) this.clear(sent);
      if (sent.place === this.place) this.$nextTick(() => { this.reply = reply; });
      this.busy = false;
      this.$nextTick(this.focus);
    },
    // What was written after what was sent stays.
    clear({ text, place }) {
      const isHere = place === this.place, now = (isHere ? this.text : kept(place)).trimStart(), rest = now.startsWith(text) ? now.slice(text.length).trimStart() : now;
      keep(place, rest);
      if (isHere) this.text = rest;
    },
  },
  template: `<footer class="foot"><form class="compose" @submit.prevent="send">
    <div v-if="hints.length" class="complete" role="listbox" aria-label="commands"><button v-for="(h, n) in hints" type="button" role="option" :aria-selected="n === pick" :class="{on: n === pick}" @mousedown.prevent="take(h)"><code>{{ h.usage }}</code><span>{{ h.does }}</span></button></div>
    <div class="box"><textarea ref="text" rows="1" v-model="text" maxlength="120000" @keydown="key" :disabled="!!may" :title="may" :placeholder="may || (noteMay ? 'Type / for commands' : 'Note to ' + (about ? shortened(titleOf(about), 50) : channel) + ', or / for commands')" aria-label="write a note or a command"></textarea>
      <button class="btn main" :disabled="busy || !!may || !text.trim() || !!blocked" :title="may || blocked">Send</button></div>
    <div class="hints"><span v-if="reply" :class="['said', {bad: !reply.ok}]" role="status" style="white-space:pre-wrap">{{ reply.text }}</span><span v-else :class="{late: blocked && text}">{{ hint }} <a v-if="form" class="link" :href="form" data-go>as a form</a></span><span class="keysline">Enter sends, Shift+Enter breaks the line</span></div>
  </form></footer>`,
};
