// The header with the society's time, and the bar of the past: one drags to any moment, read-only.
import { cap, day, Icon, minute } from "moot-console/words.js";

const SPEEDS = [1, 10, 60, 120, 300, 600];
const PLAY_MS = 900;
const WAIT_MS = 350;
const SHOWN_MS = 3000;

// The slider's stops, about a fifth more each time: from 1x to 10x is as far as from 60x to 600x, and every key moves it.
const STOPS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600];
const withSpeed = (all, speed) => (all.includes(speed) ? all : [...all, speed].sort((a, b) => a - b));

// Pause, step and speed in one place: the whole of it on a phone, the slider everywhere.
export const Pace = {
  components: { Icon },
  props: { clock: Object, why: String, speeds: Array },
  emits: ["control", "close"],
  data: () => ({ wanted: null }),
  computed: {
    stops() { return withSpeed(STOPS, this.clock.speed); },
    speed() { return this.wanted ?? this.clock.speed; },
    place() { return this.stops.findIndex((s) => s >= this.speed); },
  },
  // What was asked for is shown until the society runs so; a speed that it did not take is not shown for long.
  watch: { clock(c, before) { if (!this.timer && (c.speed !== before.speed || performance.now() - this.sentAt > SHOWN_MS)) this.wanted = null; } },
  mounted() { (this.why ? this.$refs.close : this.$refs.slide).focus(); },
  beforeUnmount() { if (this.timer) { clearTimeout(this.timer); this.send(); } },
  methods: {
    slide(e) { this.wanted = this.stops[e.target.value]; clearTimeout(this.timer); this.timer = setTimeout(this.send, WAIT_MS); },
    send() { this.timer = null; this.sentAt = performance.now(); this.$emit("control", "speed", this.wanted); },
  },
  template: `<div class="timebox" role="dialog" aria-label="pace of time" tabindex="-1" @keydown.esc.stop="$emit('close')">
    <p v-if="why" class="soft">{{ why }}</p>
    <label for="slide">Speed <b class="num">{{ speed }}×</b></label>
    <input id="slide" ref="slide" type="range" min="0" :max="stops.length - 1" step="1" :value="place" :disabled="!!why" :aria-valuetext="speed + ' times real time'" @input="slide">
    <div class="presets"><button v-for="s in speeds" type="button" :class="['btn small', {on: s === clock.speed}]" :disabled="!!why" :aria-pressed="s === clock.speed" @click="$emit('control', 'speed', s)">{{ s }}×</button></div>
    <div class="presets"><button type="button" class="btn small" :disabled="!!why" @click="$emit('control', clock.paused ? 'resume' : 'pause', null)">{{ clock.paused ? "Go on" : "Pause" }}</button>
      <button type="button" class="btn small" :disabled="!!why || !clock.paused" :title="clock.paused ? '' : 'Pause first'" @click="$emit('control', 'step', 1)">Step to what happens next</button>
      <button ref="close" type="button" class="btn small" @click="$emit('close')">Close</button></div></div>`,
};

export const Head = {
  components: { Icon, Pace },
  props: { clock: Object, now: Number, me: Object, connected: Boolean, may: String, past: Object, waiting: Number, budget: Object },
  emits: ["nav", "board", "help", "find", "control", "back"],
  data: () => ({ text: "", isPace: false }),
  computed: {
    iso() { return this.now === null ? "" : new Date(this.now).toISOString(); },
    pace() {
      if (this.past) return "the past";
      if (!this.clock.running) return "stopped";
      return this.clock.paused ? "paused" : this.clock.speed === 1 && this.clock.kind === "real" ? "live" : `${this.clock.speed}×`;
    },
    why() { return this.may || (!this.clock.running ? "no society runs here" : this.clock.kind === "real" ? "this society lives in real time: there is nothing to set" : ""); },
    speeds() { return withSpeed(SPEEDS, this.clock.speed); },
  },
  watch: { past(p) { if (p) this.isPace = false; } },
  methods: {
    cap, day,
    close() { this.isPace = false; this.$nextTick(() => this.$refs.pace.focus()); },
    away(e) { if (this.isPace && !e.currentTarget.contains(e.relatedTarget)) this.isPace = false; },
  },
  template: `<header class="head"><button class="icon menu" aria-label="channels" @click="$emit('nav')"><Icon name="menu"/></button>
    <a href="/" data-go class="brand" aria-label="Moot, home"><i :class="{away: !connected || !clock.running}" :title="!connected ? 'no connection' : clock.running ? 'the society runs' : 'no society runs here'"></i><span>Moot</span></a>
    <div class="clock"><span class="sr">society time</span><span class="soft date">{{ iso ? day(iso) : '' }}</span><b>{{ iso ? iso.slice(11, 19) : 'no time yet' }}</b><span class="soft date">UTC</span></div>
    <div class="paceplace" @focusout="away"><button ref="pace" type="button" :class="['pace', {held: clock.held && !past}]" :title="clock.held || 'Pace of time (t)'" aria-haspopup="dialog" :aria-expanded="isPace" :aria-label="pace + ', pace of time'" :disabled="!!past" @click="isPace = !isPace">{{ pace }}</button>
      <Pace v-if="isPace" :clock="clock" :why="why" :speeds="speeds" @control="(op, v) => $emit('control', op, v)" @close="close"/></div>
    <button class="icon" :disabled="!!why" :title="why || (clock.paused ? 'Go on' : 'Pause')" :aria-label="clock.paused ? 'go on' : 'pause'" @click="$emit('control', clock.paused ? 'resume' : 'pause', null)"><Icon :name="clock.paused ? 'play' : 'pause'"/></button>
    <button class="icon step" :disabled="!!why || !clock.paused" :title="why || (clock.paused ? 'To the next thing that happens' : 'Pause first')" aria-label="step" @click="$emit('control', 'step', 1)"><Icon name="step"/></button>
    <select v-if="clock.running && clock.kind !== 'real'" class="speed" :disabled="!!why" :title="why || 'Speed'" aria-label="speed" :value="clock.speed" @change="$emit('control', 'speed', Number($event.target.value))"><option v-for="s in speeds" :value="s">{{ s }}×</option></select>
    <button class="icon" title="Look at the past" aria-label="look at the past" :disabled="!!past" @click="$emit('back')"><Icon name="past"/></button>
    <form class="find" role="search" @submit.prevent="text.trim() && $emit('find', text.trim())"><input type="search" v-model="text" placeholder="Search" aria-label="search messages"></form>
    <a v-if="budget" class="spend" href="/calls" data-go :title="budget.title"><span class="sr">budget of calls: </span>{{ budget.short }}<span v-if="budget.share !== null" :class="['track', {hot: budget.hot}]" aria-hidden="true"><i :style="{width: Math.round(budget.share * 100) + '%'}"></i></span></a>
    <span class="me" :title="me.why">{{ me.user === me.role ? me.role : me.user + ' · ' + me.role }}</span>
    <button class="icon keyhelp" aria-label="keys and help" title="Keys (?)" @click="$emit('help')"><Icon name="help"/></button>
    <button class="icon owes" aria-label="who owes what" @click="$emit('board')"><Icon name="owes"/><span v-if="waiting" class="dot">{{ waiting }}</span></button></header>`,
};

export const Past = {
  props: { past: Object, head: Number },
  emits: ["to", "now"],
  data() { return { seq: this.past.seq, isPlaying: false, isCopied: false }; },
  watch: { past(p) { this.seq = p.seq; if (this.isPlaying) this.timer = setTimeout(this.next, PLAY_MS); } },
  beforeUnmount() { clearTimeout(this.timer); },
  methods: {
    minute,
    async copy() { try { await navigator.clipboard.writeText(location.href); this.isCopied = true; setTimeout(() => { this.isCopied = false; }, 2000); } catch { /* the address bar shows it as well */ } },
    next() { if (!this.isPlaying) return; if (this.seq >= this.head) { this.isPlaying = false; return; } this.$emit("to", this.seq + 1); },
    play() { this.isPlaying = !this.isPlaying; if (this.isPlaying) this.next(); else clearTimeout(this.timer); },
  },
  template: `<div class="past" role="region" aria-label="the past"><b>The past, read-only</b><span class="num when">{{ minute(past.at) }} UTC <span class="of">message {{ seq }} of {{ head }}</span></span>
    <input type="range" min="1" :max="head" step="1" v-model.number="seq" @change="isPlaying = false; $emit('to', seq)" aria-label="moment" :aria-valuetext="'message ' + seq">
    <span class="moves"><button class="btn small" @click="isPlaying = false; $emit('to', Math.max(1, seq - 1))" :disabled="seq <= 1" aria-label="back one message">‹</button><button class="btn small" @click="isPlaying = false; $emit('to', seq + 1)" :disabled="seq >= head" aria-label="on one message">›</button>
    <button class="btn small" @click="play">{{ isPlaying ? "Stop" : "Play" }}</button><button class="btn small" title="Copy the address of this moment" @click="copy">{{ isCopied ? "Copied" : "Copy link" }}</button></span><button class="btn small main" @click="$emit('now')">Back to now</button></div>`,
};
