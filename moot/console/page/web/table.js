// A plain table: heads, rows of texts or {t, go}, a marked row. A link to a case shows its title.
import { shortened, titleOf, unnumbered } from "moot-console/words.js";

const CASE = /^\/case\/([^/?#]+)$/;

export const Rows = {
  props: { table: Object },
  methods: {
    text(c) { const id = CASE.exec(c.go)?.[1]; return id && c.t.startsWith(decodeURIComponent(id)) ? shortened(titleOf(c.t), 60) : unnumbered(c.t); },
    unnumbered: (c) => (typeof c === "string" ? unnumbered(c) : c),
  },
  template: `<div class="wide" tabindex="0" role="group" aria-label="table"><table :class="['rows', {stack: table.stack}]"><thead><tr><component :is="h ? 'th' : 'td'" v-for="(h, n) in table.head" :class="{num: table.nums?.includes(n)}">{{ h }}</component></tr></thead>
    <tbody><tr v-for="(r, n) in table.rows" :class="{on: n === table.on}"><td v-for="(c, k) in r" :class="{num: table.nums?.includes(k)}"><a v-if="c && c.go" class="chip" :href="c.go" data-go :title="c.t">{{ text(c) }}</a><template v-else>{{ unnumbered(c) }}</template></td></tr></tbody></table>
    <p v-if="!table.rows.length" class="soft" style="padding-top:8px">{{ table.none || "Nothing yet." }}</p></div>`,
};
