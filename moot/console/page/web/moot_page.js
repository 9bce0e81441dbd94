// The whole page: header, channels, middle, board. It asks its session on the server and is told what happens.
import { Board } from "moot-console/board.js";
import { Confirm, Toasts } from "moot-console/dialogs.js";
import { Compose } from "moot-console/compose.js";
import { Feed } from "moot-console/feed.js";
import { Nav } from "moot-console/nav.js";
import { Head, Past } from "moot-console/time.js";
import { knowCases, knowTitles, minute, plural, unnumbered } from "moot-console/words.js";
import { defineAsyncComponent } from "vue";

// Parts that the first paint can do without, by the kind of view; each is fetched before its view is shown.
const LATER = { act: "act", acts: "act", call: "story", calls: "calls", case: "case", figures: "figures", inbox: "inbox", memory: "memory", seat: "seat", search: "search" };
const fetched = (file) => import(`moot-console/${file}.js`);
const later = (file, name) => defineAsyncComponent(async () => (await fetched(file))[name]);
const Calls = later("calls", "Calls"), CallView = later("story", "CallView");
const CaseView = later("case", "CaseView"), Figures = later("figures", "Figures"), Help = later("help", "Help"), Inbox = later("inbox", "Inbox");
const ActForm = later("act", "ActForm"), ActList = later("act", "ActList"), Memory = later("memory", "Memory"), SeatForm = later("seat", "SeatForm"), Search = later("search", "Search");

const READ = "moot-read";
const TICK_MS = 500;
const LONGEST_MS = 20000;

export default {
  components: { ActForm, Confirm, Toasts, ActList, Board, CallView, Calls, CaseView, Compose, Feed, Figures, Head, Help, Inbox, Memory, Nav, Past, Search, SeatForm },
  props: { boot: Object },
  provide() { return { ask: this.ask, notice: this.notice, toast: (text, isOk = true) => this.$refs.toasts.add(text, isOk), confirm: (asked) => this.$refs.confirm.ask(asked), drawn: this.boot.drawn, mayWhy: !this.boot.may.calls }; },
  data() {
    const b = this.boot;
    return {
      me: b.me, groups: b.groups, pages: b.pages, commands: b.commands, seats: b.seats, may: b.may, clock: b.clock, clockAt: performance.now(), board: b.board, view: b.view, head: b.head,
      past: b.past, unread: {}, read: JSON.parse(localStorage.getItem(READ) || "{}"), now: null, isConnected: true, tell: b.tell, path: b.path, isNavOpen: false, isBoardOpen: false, isHelp: false, n: 0, open: {}, visit: 0, shown: 0, notices: [],
    };
  },
  computed: {
    waiting() { return this.board.raised.filter((e) => !e.how).length + (this.board.duties || []).length; },
    here() { return this.view.kind === "feed" && this.view.filter.channel ? "/c/" + this.view.filter.channel.slice(1) : this.path.split(/[?#]/)[0]; },
    channel() { return this.view.channel || "#admin"; },
    mayResume() { return !this.stop && !this.commands.find((c) => c.name === "resume")?.may; },
    stop() { return this.past ? "this is the past: nobody can act in it" : !this.isConnected ? "the connection is gone; it comes back by itself" : ""; },
  },
  created() { knowCases(this.boot.cases); knowTitles({}, this.boot.nouns, async (ids) => this.ask("titles", { ids })); this.late = null; this.tick(); },
  mounted() {
    document.title = this.titled(document.title);
    for (const g of this.groups) for (const c of g.channels) if (!(c.name in this.read)) this.read[c.name] = c.last;
    this.count();
    this.tidy();
    this.timer = setInterval(this.tick, TICK_MS);
    document.addEventListener("keydown", this.key);
    window.addEventListener("popstate", this.popped);
    const watch = () => {
      if (!window.socket) return setTimeout(watch, 20);
      for (const gone of ["disconnect", "connect_error"]) window.socket.on(gone, () => { this.isConnected = false; });
      window.socket.on("connect", () => { this.isConnected = true; });
      // It may have come and gone before this listened.
      if (window.did_handshake) this.isConnected = window.socket.connected;
    };
    watch();
    document.documentElement.dataset.ready = "yes";
  },
  methods: {
    plural, minute, unnumbered,
    // Asks the session; rejects with its sentence.
    ask(op, args) {
      const id = ++this.n;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => { delete this.open[id]; reject(Object.assign(new Error("No answer; the connection may be gone. Try again."), { isLost: true })); }, LONGEST_MS);
        this.open[id] = { resolve, reject, timer };
        this.$emit("ask", { id, op, args: args || {} });
      });
    },
    answer(id, result, fault) {
      const waits = this.open[id];
      if (!waits) return;
      delete this.open[id];
      clearTimeout(waits.timer);
      if (fault) waits.reject(new Error(fault)); else waits.resolve(result);
    },
    // What happened, as the session tells it.
    push(news) {
      if (news.head) this.head = news.head;
      if (news.clock) { this.clock = news.clock; this.clockAt = performance.now(); this.tick(); }
      if (news.board) this.board = news.board;
      if (news.may) { this.may = news.may; this.commands = news.commands; }
      if (news.reload) { this.reload(); return; }
      if (!news.cards || this.past) return;
      this.late?.push(...news.cards);
      for (const m of news.cards) if (!m.h || m.h !== this.me.user || m.p !== "console") this.unread[m.c] = (this.unread[m.c] || 0) + 1;
      this.show(news.cards);
    },
    show(cards) {
      this.$refs.calls?.news(cards);
      const filter = this.view.kind === "feed" ? this.view.filter : this.view.kind === "case" ? { case: this.view.case } : null;
      if (!filter) return;
      const mine = cards.filter((m) => (!filter.channel || m.c === filter.channel) && m.c !== filter.but && (!filter.case || m.k === filter.case));
      if (mine.length) (this.$refs.feed || this.$refs.case?.$refs.feed)?.push(mine);
      if (mine.length && this.view.kind === "case") this.$refs.case.changed();
    },
    // Tells what became of an answer whose card is gone; one that was only being written counts if it was somebody else's end.
    notice(id, text, isDraft = false) {
      const e = this.board.raised.find((one) => one.id === id);
      if (!isDraft || e?.said) this.notices = [...this.notices.filter((n) => n.id !== id), { id, text }];
    },
    first(id) { const e = this.board.raised.find((one) => one.id === id); return e?.said ? `“${unnumbered(e.trigger)}” ${e.said}.` : ""; },
    async resume() {
      if (!this.view.channel) await this.go("/c/b-risk");
      await this.$nextTick();
      if (this.$refs.compose && !this.$refs.compose.begin("/resume ")) this.tell = "Send or clear first what you are writing: /resume goes into the same box.";
    },
    async count() {
      try {
        const found = await this.ask("unread", { read: this.read });
        for (const [name, n] of Object.entries(found)) this.unread[name] = n;
        this.keep();
      } catch { /* counts are a convenience; the next page counts again */ }
    },
    seen(m) {
      if (document.hidden || this.past) return;
      const channel = this.view.filter?.channel;
      if (!channel || m.c !== channel) return;
      this.read[channel] = Math.max(this.read[channel] || 0, m.s);
      this.unread[channel] = 0;
      this.keep();
    },
    keep() { localStorage.setItem(READ, JSON.stringify(this.read)); },
    tick() {
      // Without its server a page knows no time: clock and countdowns stand still.
      if (!this.isConnected) return;
      if (!this.clock.at) { this.now = null; return; }
      let at = Date.parse(this.clock.at) + (performance.now() - this.clockAt) * this.clock.pace;
      if (this.clock.limit) at = Math.max(Date.parse(this.clock.at), Math.min(at, Date.parse(this.clock.limit)));
      this.now = at;
    },
    titled(title) { return this.clock.rehearsal ? `Rehearsal · ${title}` : title; },
    async go(path, isNew = true) {
      this.isNavOpen = this.isBoardOpen = false;
      const visit = ++this.visit;
      this.late = [];
      try {
        const view = await this.ask("open", { path });
        if (LATER[view.kind]) await fetched(LATER[view.kind]);
        if (visit !== this.visit) return;
        this.tell = "";
        this.view = view; this.path = path; this.shown++;
        this.tidy();
        if (isNew) history.pushState(null, "", this.address());
        document.title = this.titled(`${view.title} · Moot`);
        // What was told while the view was on its way is not in it.
        await this.$nextTick();
        if (visit === this.visit && !this.past) this.show(this.late);
      } catch (e) { this.tell = e.message; }
      finally { if (visit === this.visit) this.late = null; }
    },
    // A form that nobody owes any more needs its draft no longer.
    tidy() { const at = this.path.split(/[?#]/)[0]; if (this.view.kind === "nothing" && at.startsWith("/seat/")) fetched("seat").then((seat) => seat.forget(decodeURIComponent(at.slice(6)))); },
    reload() { this.go(this.path, false); },
    click(e) {
      const a = e.target.closest("a[data-go]");
      if (!a || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
      e.preventDefault();
      this.go(a.getAttribute("href"));
    },
    find(text) { this.go("/search?q=" + encodeURIComponent(text)); },
    // The address of what is shown now; of a past moment with its message, so that it can be shared.
    address() {
      const [rest, hash] = this.path.split("#"), [place, query] = rest.split("?"), asked = new URLSearchParams(query || "");
      asked.delete("at");
      if (this.past) asked.set("at", this.past.seq);
      return place + (asked.size ? `?${asked}` : "") + (hash ? `#${hash}` : "");
    },
    async popped() {
      const asked = new URLSearchParams(location.search), at = Number(asked.get("at")) || null;
      asked.delete("at");
      this.path = location.pathname + (asked.size ? `?${asked}` : "") + location.hash;
      if (at === (this.past?.seq ?? null)) await this.go(this.path, false); else await this.goBack(at, false);
    },
    async control(op, value) {
      try { const r = await this.ask("control", { op, value }); this.tell = ""; this.$refs.toasts.add(r.text, r.ok); } catch (e) { this.tell = e.message; }
    },
    async goBack(seq, isNew = true) {
      try {
        const found = await this.ask("at", { seq });
        this.past = found.past; this.board = found.board; this.clock = found.clock; this.clockAt = performance.now(); this.tick();
        await this.go(this.path, false);
        // Moving about in the past is one step of the browser's history, not hundreds.
        if (isNew) history[history.state?.at && this.past ? "replaceState" : "pushState"](this.past ? { at: this.past.seq } : null, "", this.address());
      } catch (e) { this.tell = e.message; }
    },
    key(e) {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "Escape") {
        this.isHelp = this.isNavOpen = this.isBoardOpen = false;
        this.tell = "";
        this.notices = [];
        if (document.activeElement !== document.body) document.activeElement.blur();
        return;
      }
      if (e.target.closest?.("input, textarea, select")) return;
      if (this.goes) {
        this.goes = false;
        const to = { c: () => { this.isNavOpen = true; this.$nextTick(() => document.querySelector(".nav a.here, .nav a").focus()); }, i: () => this.go("/inbox"), a: () => this.go("/c/a-arena"), d: () => this.go("/c/admin"), m: () => this.go("/memory"), b: () => this.go("/calls"), s: () => this.go("/search") }[e.key];
        if (to) { e.preventDefault(); to(); }
        return;
      }
      const act = { "?": () => { this.isHelp = true; }, "/": () => document.querySelector(".find input")?.offsetParent ? document.querySelector(".find input").focus() : this.go("/search"), g: () => { this.goes = true; }, n: () => this.$refs.compose?.focus(),
        j: () => this.feed()?.move(1), k: () => this.feed()?.move(-1), l: () => this.feed()?.latest(), w: () => (document.activeElement.closest(".msg") || document.querySelector(".msg.at"))?.querySelector("[data-why]")?.click(), t: () => { if (!this.past) this.$refs.head.isPace = true; }, o: () => { this.isBoardOpen = !this.isBoardOpen; } }[e.key];
      if (act) { e.preventDefault(); act(); }
    },
    feed() { return this.$refs.feed || this.$refs.case?.$refs.feed; },
  },
  beforeUnmount() { clearInterval(this.timer); document.removeEventListener("keydown", this.key); },
  template: `<div class="moot" @click="click"><a class="skip" href="#main" @click.prevent="$refs.main.focus()">Skip to the messages</a>
    <Head ref="head" :clock="clock" :now="now" :me="me" :connected="isConnected" :may="stop || may.control" :past="past" :waiting="waiting" :budget="board.budget" @nav="isNavOpen = !isNavOpen" @board="isBoardOpen = !isBoardOpen" @help="isHelp = true" @find="find" @control="control" @back="goBack(head)"/>
    <Past v-if="past" :past="past" :head="head" @to="goBack" @now="goBack(null)"/>
    <Nav :class="{open: isNavOpen}" :groups="groups" :pages="pages" :unread="past ? {} : unread" :here="here" :waiting="waiting" :budget="board.budget"/>
    <main ref="main" id="main" tabindex="-1" class="main" :aria-label="view.title">
      <p v-if="clock.rehearsal" class="tell rehearsal" role="status"><b>Rehearsal</b> Things are made to go wrong on purpose. Nothing here is for real.</p>
      <p v-if="!isConnected" class="tell bad" role="status">The connection is gone. This page comes back by itself when the console answers again; what you wrote is kept.</p>
      <p v-if="clock.held && !past" class="tell slow" role="status">{{ unnumbered(clock.held) }}</p>
      <p v-if="board.halt" class="tell halted" role="status"><span><b>Trading {{ past ? "was" : "is" }} halted</b> since <a :href="'/m/' + board.halt.seq" data-go>{{ minute(board.halt.since) }} UTC</a> by {{ board.halt.by }}<template v-if="board.halt.why">: {{ board.halt.why }}</template><template v-if="board.halt.resuming"> · a resume waits to be confirmed</template></span>
        <button v-if="mayResume && !board.halt.resuming" class="btn small" @click="resume">Resume …</button></p>
      <p v-if="tell" class="tell bad" role="alert">{{ tell }}</p>
      <p v-for="n in notices" :key="n.id" class="tell bad late-answer" role="alert"><span>{{ first(n.id) }} {{ n.text }}</span> <button class="btn small" @click="notices = notices.filter((o) => o !== n)">Close</button></p>
      <div :class="['bar', view.kind]"><h1>{{ view.title }}</h1><span class="about">{{ view.about }}</span></div>
      <Feed v-if="view.kind === 'feed'" ref="feed" :key="'f' + shown" :window="view.window" :place="!view.filter.channel" :live="!past" @seen="seen"/>
      <Inbox v-else-if="view.kind === 'inbox'" :raised="board.raised" :duties="board.duties" :now="now" :may="stop || may.answer" :stop="stop" :building="board.building"/>
      <CaseView v-else-if="view.kind === 'case'" ref="case" :key="'c' + shown" :view="view" :now="now" :live="!past" :may="stop || may.answer" :stop="stop" :raised="board.raised" :duties="board.duties"/>
      <Search v-else-if="view.kind === 'search'" :key="'s' + shown" :view="view" @go="go"/>
      <ActList v-else-if="view.kind === 'acts'" :key="'l' + shown" :view="view" :commands="commands" :may="stop"/>
      <ActForm v-else-if="view.kind === 'act'" :key="'p' + shown" :view="view" :commands="commands" :may="stop"/>
      <SeatForm v-else-if="view.kind === 'seat'" :key="'o' + shown" :view="view" :may="stop" :now="now"/>
      <Memory v-else-if="view.kind === 'memory'" :key="'m' + shown" :view="view"/>
      <Calls v-else-if="view.kind === 'calls'" ref="calls" :key="'k' + shown" :view="view" :commands="commands" :may="stop" @go="go"/>
      <CallView v-else-if="view.kind === 'call'" :key="'w' + shown" :view="view"/>
      <Figures v-else-if="view.kind === 'figures'" :key="'d' + shown" :view="view" @again="reload"/>
      <div v-else class="scroll"><div class="page"><p class="soft">{{ view.about }}</p></div></div>
    </main>
    <Compose v-if="view.channel" ref="compose" :channel="channel" :about="view.case || ''" :commands="commands" :may="stop" :note-may="may.note[channel] || ''" :seats="seats"/>
    <Board :class="{open: isBoardOpen}" :owed="board.owed" :raised="board.raised" :duties="board.duties" :now="now" :building="board.building"/>
    <div :class="['veil', {open: isNavOpen || isBoardOpen}]" @click="isNavOpen = isBoardOpen = false"></div>
    <Confirm ref="confirm"/><Toasts ref="toasts"/>
    <Help v-if="isHelp" @close="isHelp = false"/>
  </div>`,
};
