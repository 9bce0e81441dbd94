// A window of the log that moves: endless backwards and forwards, never more than MOST messages on the page.
import { Message } from "moot-console/message.js";
import { clockTime, day, plural } from "moot-console/words.js";

const MOST = 240;
const NEAR = 500;
const SETTLE_MS = 1500;
const FOLDED_FROM = 2;
const GROUP_MS = 20 * 60 * 1000;

export const Feed = {
  components: { Message },
  inject: ["ask"],
  props: { window: Object, place: Boolean, incase: Boolean, live: Boolean },
  emits: ["seen"],
  data() {
    const w = this.window;
    return { items: w.items, isStart: w.start, isEnd: w.end, at: w.at || 0, cursor: 0, busy: false, missed: 0, isLow: true, fault: "", unfolded: {} };
  },
  computed: {
    rows() {
      let before = null;
      const rows = [];
      for (const m of this.items) {
        const date = m.t.slice(0, 10);
        const isNew = !before || before.t.slice(0, 10) !== date;
        const cont = !isNew && !m.m && !before.m && before.a === m.a && before.k === m.k && before.c === m.c && before.u === m.u && Date.parse(m.t) - Date.parse(before.t) < GROUP_MS;
        const last = rows[rows.length - 1];
        // Routine that repeats itself word for word is one line that counts, unless a link or the cursor points into it.
        if (last && !isNew && !m.m && m.y === last.m.y && m.x === last.m.x && m.a === last.m.a && m.c === last.m.c && !m.b.length && ![this.at, this.cursor].includes(m.s)) { last.times++; last.until = m.t; }
        else rows.push({ m, cont, day: isNew ? day(m.t) : "", times: 1, until: m.t });
        before = m;
      }
      return this.folded(rows);
    },
    more() { return !this.isLow || !this.isEnd; },
    label() { return this.missed ? `${plural(this.missed, "new message")} ↓` : "Jump to latest ↓"; },
  },
  created() { this.late = []; },
  updated() { if (!this.busy && !this.isStart && this.items.length < MOST && this.box && this.box.clientHeight && this.box.scrollHeight <= this.box.clientHeight) this.older(); },
  mounted() {
    this.box = this.$refs.box;
    if (this.at) this.reveal(this.at); else this.bottom();
    this.seen();
    this.$nextTick(() => { if (!this.isStart && this.box.clientHeight && this.box.scrollHeight <= this.box.clientHeight) this.older(); });
    // A banner, a reply or a keyboard on a phone makes the box smaller: who stood at the bottom stays there.
    // Titles that arrive later make its content longer: the message that an address names stays in sight then, too.
    this.sizes = new ResizeObserver(() => {
      if (!this.box.clientHeight) return;
      if (this.at && performance.now() < this.settlesAt) document.getElementById("m" + this.at)?.scrollIntoView({ block: "center" });
      else if (this.isLow && this.isEnd) this.box.scrollTop = this.box.scrollHeight;
    });
    this.sizes.observe(this.box);
    this.sizes.observe(this.$refs.inner);
  },
  beforeUnmount() { this.sizes.disconnect(); },
  methods: {
    clockTime, plural,
    // Routine in a row is one line that says how much it is, until somebody opens it. A link and the cursor see all.
    folded(rows) {
      const found = [];
      let run = [];
      const end = () => {
        const n = run.reduce((sum, r) => sum + r.times, 0), first = run[0];
        if (n >= FOLDED_FROM && !this.unfolded[first.m.y + first.m.t.slice(0, 10)]) found.push({ fold: n, m: first.m, key: `f${run[run.length - 1].m.s}`, day: first.day, until: run[run.length - 1].until, kinds: [...new Set(run.map((r) => r.m.w))] });
        else found.push(...run);
        run = [];
      };
      for (const r of rows) {
        const isRoutine = r.m.q && ![this.at, this.cursor].includes(r.m.s);
        if (run.length && (!isRoutine || r.day)) end();
        if (isRoutine) run.push(r); else found.push(r);
      }
      if (run.length) end();
      return found;
    },
    unfold(r) { for (const y of new Set(this.items.filter((m) => m.q).map((m) => m.y))) this.unfolded[y + r.m.t.slice(0, 10)] = true; },
    bottom() { this.$nextTick(() => { this.box.scrollTop = this.box.scrollHeight; this.isLow = true; }); },
    reveal(seq) { this.settlesAt = performance.now() + SETTLE_MS; this.$nextTick(() => { document.getElementById("m" + seq)?.scrollIntoView({ block: "center" }); this.cursor = seq; this.onScroll(); }); },
    seen() { if (this.isEnd && this.isLow && this.items.length) this.$emit("seen", this.items[this.items.length - 1]); },
    async onScroll() {
      const b = this.box;
      this.isLow = b.scrollHeight - b.scrollTop - b.clientHeight < 60;
      if (this.isLow && this.isEnd) { this.missed = 0; this.seen(); }
      if (this.busy) return;
      if (b.scrollTop < NEAR && !this.isStart) await this.older();
      else if (b.scrollHeight - b.scrollTop - b.clientHeight < NEAR && !this.isEnd) await this.newer();
    },
    // Asks for a window and takes it in; what is pushed meanwhile comes after it, for it may not be in it.
    async fetch(args, take) {
      this.busy = true;
      try { await take(await this.ask("window", { ...this.window.filter, ...args })); }
      catch (e) { this.fault = e.message; }
      this.busy = false;
      this.push(this.late.splice(0));
    },
    async older() {
      await this.fetch({ before: this.items.length ? this.items[0].s : null }, (w) => {
        this.isStart = w.start;
        const all = [...w.items, ...this.items];
        return this.splice(() => { this.items = all.slice(0, MOST); if (all.length > MOST) this.isEnd = false; });
      });
    },
    async newer() {
      await this.fetch({ after: this.items[this.items.length - 1].s }, (w) => {
        this.isEnd = w.end;
        return this.splice(() => { const all = this.items.concat(w.items); this.items = all.slice(-MOST); if (all.length > MOST) this.isStart = false; });
      });
    },
    // Changes the items and keeps what is being read where it is: by the first message in sight that still has a line
    // of its own, for one that repeats what now stands before it has none any more.
    async splice(change) {
      const b = this.box;
      const inSight = [...b.querySelectorAll(".msg, .folded")].filter((e) => e.offsetTop + e.offsetHeight > b.scrollTop).map((e) => [e.id, e.offsetTop - b.scrollTop]);
      change();
      await this.$nextTick();
      for (const [id, offset] of inSight) {
        const same = document.getElementById(id);
        if (same) { b.scrollTop = same.offsetTop - offset; return; }
      }
    },
    push(cards) {
      if (this.busy) { this.late.push(...cards); return; }
      const last = this.items.length ? this.items[this.items.length - 1].s : 0;
      const fresh = cards.filter((m) => m.s > last);
      if (!fresh.length || !this.live) return;
      if (!this.isEnd) { this.missed += fresh.length; return; }
      if (this.isLow) {
        this.items = this.items.concat(fresh).slice(-MOST);
        if (this.items[0].s !== this.window.items[0]?.s) this.isStart = false;
        this.bottom(); this.$nextTick(this.seen);
      } else {
        this.missed += fresh.length;
        if (this.items.length < 2 * MOST) this.items = this.items.concat(fresh); else this.isEnd = false;
      }
    },
    async latest() {
      if (this.isEnd) this.items = this.items.slice(-MOST);
      else await this.fetch({}, (w) => { this.items = w.items; this.isStart = w.start; this.isEnd = true; });
      if (!this.isEnd) return;
      this.missed = 0; this.cursor = 0; this.bottom(); this.$nextTick(this.seen);
    },
    // Moves the cursor of the keyboard, by messages.
    move(by) {
      if (!this.items.length) return;
      let n = this.items.findIndex((m) => m.s === this.cursor);
      n = n < 0 ? this.items.length - 1 : Math.min(this.items.length - 1, Math.max(0, n + by));
      this.cursor = this.items[n].s;
      this.$nextTick(() => { const e = document.getElementById("m" + this.cursor); e?.focus({ preventScroll: true }); e?.scrollIntoView({ block: "nearest" }); });
    },
  },
  template: `<div ref="box" class="scroll" @scroll.passive="onScroll" tabindex="0" role="log" aria-label="messages" aria-live="off"><div ref="inner" class="feed">
      <p v-if="fault" class="edge late">{{ fault }}</p>
      <p v-if="isStart" class="edge">{{ items.length ? "This is where it begins." : "Nothing has been said here yet." }}</p><p v-else class="edge">one moment …</p>
      <template v-for="r in rows" :key="r.key || r.m.s"><h2 v-if="r.day" class="day">{{ r.day }}</h2>
        <button v-if="r.fold" type="button" class="folded" :id="r.key" aria-expanded="false" @click="unfold(r)"><span>{{ plural(r.fold, "routine message") }}: {{ r.kinds.slice(0, 3).join(", ") }}, nothing found</span> <span class="num">{{ clockTime(r.m.t) }} to {{ clockTime(r.until) }}</span> <span class="link">Show</span></button>
        <Message v-else :m="r.m" :cont="r.cont" :at="r.m.s === at || r.m.s === cursor" :whole="r.m.s === at" :place="place" :incase="incase" :times="r.times" :until="r.until"/></template>
    </div></div>
    <button v-if="more" class="btn latest" @click="latest">{{ label }}</button>`,
};
