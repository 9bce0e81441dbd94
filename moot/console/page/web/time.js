// The header with the society's time, and the bar of the past: one drags to any moment, read-only.
import { cap, day, Icon, minute } from "moot-console/words.js";

const SPEEDS = [1, 10, 60, 120, 300, 600];
const PLAY_MS = 900;

export const Head = {
  components: { Icon },
  props: { clock: Object, now: Number, me: Object, connected: Boolean, may: String, past: Object, waiting: Number },
  emits: ["nav", "board", "help", "find", "control", "back"],
  data: () => ({ text: "", isSpeed: false }),
  computed: {
    iso() { return this.now === null ? "" : new Date(this.now).toISOString(); },
    pace() {
      if (this.past) return "the past";
      if (!this.clock.running) return "stopped";
      return this.clock.paused ? "paused" : this.clock.speed === 1 && this.clock.kind === "real" ? "live" : `${this.clock.speed}×`;
    },
    why() { return this.may || (!this.clock.running ? "no society runs here" : this.clock.kind === "real" ? "this society lives in real time: there is nothing to set" : ""); },
    speeds() { return SPEEDS.includes(this.clock.speed) ? SPEEDS : [...SPEEDS, this.clock.speed].sort((a, b) => a - b); },
  },
  methods: { cap, day },
  template: `<header class="head"><button class="icon menu" aria-label="channels" @click="$emit('nav')"><Icon name="menu"/></button>
    <a href="/" data-go class="brand" aria-label="Moot, home"><i :class="{away: !connected || !clock.running}" :title="!connected ? 'no connection' : clock.running ? 'the society runs' : 'no society runs here'"></i><span>Moot</span></a>
    <div class="clock" aria-label="society time"><span class="soft date">{{ iso ? day(iso) : '' }}</span><b>{{ iso ? iso.slice(11, 19) : 'no time yet' }}</b><span class="soft date">UTC</span></div>
    <span :class="['pace', {held: clock.held && !past}]" :title="clock.held || ''">{{ pace }}</span>
    <button class="icon" :disabled="!!why" :title="why || (clock.paused ? 'Go on' : 'Pause')" :aria-label="clock.paused ? 'go on' : 'pause'" @click="$emit('control', clock.paused ? 'resume' : 'pause', null)"><Icon :name="clock.paused ? 'play' : 'pause'"/></button>
    <button class="icon step" :disabled="!!why || !clock.paused" :title="why || (clock.paused ? 'To the next thing that happens' : 'Pause first')" aria-label="step" @click="$emit('control', 'step', 1)"><Icon name="step"/></button>
    <select v-if="clock.running && clock.kind !== 'real'" class="speed" :disabled="!!why" :title="why || 'Speed'" aria-label="speed" :value="clock.speed" @change="$emit('control', 'speed', Number($event.target.value))"><option v-for="s in speeds" :value="s">{{ s }}×</option></select>
    <button class="icon" title="Look at the past" aria-label="look at the past" :disabled="!!past" @click="$emit('back')"><Icon name="past"/></button>
    <form class="find" role="search" @submit.prevent="text.trim() && $emit('find', text.trim())"><input type="search" v-model="text" placeholder="Search" aria-label="search messages"></form>
    <span class="me" :title="me.why">{{ me.user }} · {{ me.role }}</span>
    <button class="icon keyhelp" aria-label="keys and help" title="Keys (?)" @click="$emit('help')"><Icon name="help"/></button>
    <button class="icon owes" aria-label="who owes what" @click="$emit('board')"><Icon name="owes"/><span v-if="waiting" class="dot">{{ waiting }}</span></button></header>`,
};

export const Past = {
  props: { past: Object, head: Number },
  emits: ["to", "now"],
  data() { return { seq: this.past.seq, isPlaying: false }; },
  watch: { past(p) { this.seq = p.seq; if (this.isPlaying) this.timer = setTimeout(this.next, PLAY_MS); } },
  beforeUnmount() { clearTimeout(this.timer); },
  methods: {
    minute,
    next() { if (!this.isPlaying) return; if (this.seq >= this.head) { this.isPlaying = false; return; } this.$emit("to", this.seq + 1); },
    play() { this.isPlaying = !this.isPlaying; if (this.isPlaying) this.next(); else clearTimeout(this.timer); },
  },
  template: `<div class="past" role="region" aria-label="the past"><b>The past, read-only</b><span class="num">message {{ seq }} of {{ head }}, {{ minute(past.at) }} UTC</span>
    <input type="range" min="1" :max="head" step="1" v-model.number="seq" @change="isPlaying = false; $emit('to', seq)" aria-label="moment" :aria-valuetext="'message ' + seq">
    <button class="btn small" @click="isPlaying = false; $emit('to', Math.max(1, seq - 1))" :disabled="seq <= 1" aria-label="back one message">‹</button><button class="btn small" @click="isPlaying = false; $emit('to', seq + 1)" :disabled="seq >= head" aria-label="on one message">›</button>
    <button class="btn small" @click="play">{{ isPlaying ? "Stop" : "Play" }}</button><button class="btn small main" @click="$emit('now')">Back to now</button></div>`,
};
