// Left: channels by system with what is unread, and the console's own pages.
import { Icon } from "moot-console/words.js";

export const Nav = {
  components: { Icon },
  props: { groups: Array, pages: Array, unread: Object, here: String, waiting: Number, budget: Object },
  template: `<nav class="nav" aria-label="channels and pages">
    <a v-for="p in pages" :href="p.path" data-go :class="{here: here === p.path}" :aria-current="here === p.path ? 'page' : null"><span>{{ p.name }}</span>
      <span v-if="p.path === '/inbox' && waiting" class="n hot">{{ waiting }}</span><span v-if="p.path === '/calls' && budget" :class="['n', {hot: budget.hot}]">{{ budget.short }}</span></a>
    <template v-for="g in groups"><h2>{{ g.name }}</h2>
      <a v-for="c in g.channels" :href="'/c/' + c.name.slice(1)" data-go :title="c.purpose" :class="{here: here === '/c/' + c.name.slice(1), news: unread[c.name]}"
        :aria-current="here === '/c/' + c.name.slice(1) ? 'page' : null"><span>{{ c.name }}</span>
        <span v-if="unread[c.name]" class="n">{{ unread[c.name] > 99 ? "99+" : unread[c.name] }}<span class="sr"> unread</span></span></a></template>
  </nav>`,
};
