// Left: channels by system with what is unread, and the console's own pages.
import { Icon } from "moot-console/words.js";

export const Nav = {
  components: { Icon },
  data: () => ({ isOpen: {} }),
  methods: {
    isUsed(c) { return c.last > 0 || this.unread[c.name] || this.here === "/c/" + c.name.slice(1); },
    // Channels in which nothing was said are folded, unless no channel of a group was used: then its heading says so.
    shown(g) { return this.isOpen[g.name] ? g.channels : g.channels.filter(this.isUsed); },
    unused(g) { return g.channels.filter((c) => !this.isUsed(c)).length; },
  },
  props: { groups: Array, pages: Array, unread: Object, here: String, waiting: Number, budget: Object },
  template: `<nav class="nav" aria-label="channels and pages">
    <a v-for="p in pages" :href="p.path" data-go :class="{here: here === p.path}" :aria-current="here === p.path ? 'page' : null"><span>{{ p.name }}</span>
      <span v-if="p.path === '/inbox' && waiting" class="n hot">{{ waiting }}</span><span v-if="p.path === '/calls' && budget" :class="['n', {hot: budget.hot}]">{{ budget.short }}</span></a>
    <template v-for="g in groups"><h2>{{ g.name }}</h2>
      <a v-for="c in shown(g)" :key="c.name" :href="'/c/' + c.name.slice(1)" data-go :title="c.purpose" :class="{here: here === '/c/' + c.name.slice(1), news: unread[c.name]}"
        :aria-current="here === '/c/' + c.name.slice(1) ? 'page' : null"><span>{{ c.name }}</span>
        <span v-if="unread[c.name]" class="n">{{ unread[c.name] > 99 ? "99+" : unread[c.name] }}<span class="sr"> unread</span></span></a>
      <button v-if="unused(g)" type="button" class="unused" :aria-expanded="!!isOpen[g.name]" @click="isOpen[g.name] = !isOpen[g.name]">{{ isOpen[g.name] ? "Hide unused" : unused(g) + " unused" }}<span class="sr"> channels of {{ g.name }}</span></button></template>
  </nav>`,
};
