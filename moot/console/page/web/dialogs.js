// What is asked once more before it is done, and short notices of what became of it.
import { unnumbered } from "moot-console/words.js";

const SHOWN_MS = 7000;
const MOST = 4;

// A question in a dialog of the browser: it holds the focus, and Esc says no.
export const Confirm = {
  data: () => ({ asked: null }),
  methods: {
    unnumbered,
    // Resolves to true if the person says yes.
    ask(asked) {
      this.done?.(false);
      this.asked = asked;
      return new Promise((resolve) => {
        this.done = resolve;
        this.$nextTick(() => { this.$refs.box.showModal(); this.$refs.no.focus(); });
      });
    },
    say(isYes) {
      const done = this.done;
      this.done = null;
      if (this.$refs.box?.open) this.$refs.box.close();
      this.asked = null;
      done?.(isYes);
    },
  },
  beforeUnmount() { this.done?.(false); },
  template: `<dialog ref="box" class="confirm" aria-labelledby="confirm-title" @cancel.prevent="say(false)" @keydown.esc.stop.prevent="say(false)" @click.self="say(false)"><form v-if="asked" method="dialog" @submit.prevent="say(true)">
    <h2 id="confirm-title">{{ unnumbered(asked.title) }}</h2><p v-if="asked.text" dir="auto" class="what">{{ unnumbered(asked.text) }}</p><ul v-if="asked.details"><template v-for="d in asked.details"><li v-if="d" dir="auto">{{ unnumbered(d) }}</li></template></ul>
    <p class="buttons"><button ref="no" type="button" class="btn" @click="say(false)">Cancel</button><button class="btn main">{{ asked.yes }}</button></p></form></dialog>`,
};

export const Toasts = {
  data: () => ({ items: [], n: 0 }),
  methods: {
    // A success goes by itself; a failure stays until it is closed.
    add(text, isOk) {
      const id = ++this.n;
      this.items = [...this.items.slice(1 - MOST), { id, text, isOk }];
      if (isOk) setTimeout(() => this.close(id), SHOWN_MS);
    },
    close(id) { this.items = this.items.filter((t) => t.id !== id); },
  },
  template: `<div class="toasts" role="region" aria-label="notices"><div v-for="t in items" :key="t.id" :class="['toast', {bad: !t.isOk}]" :role="t.isOk ? 'status' : 'alert'"><span>{{ t.text }}</span><button type="button" class="btn small" :aria-label="'close: ' + t.text.slice(0, 60)" @click="close(t.id)">Close</button></div></div>`,
};
