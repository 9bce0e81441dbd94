// A plain table: heads, rows of texts or {t, go}, a marked row.
export const Rows = {
  props: { table: Object },
  template: `<div class="wide" tabindex="0" role="group" aria-label="table"><table :class="['rows', {stack: table.stack}]"><thead><tr><component :is="h ? 'th' : 'td'" v-for="(h, n) in table.head" :class="{num: table.nums?.includes(n)}">{{ h }}</component></tr></thead>
    <tbody><tr v-for="(r, n) in table.rows" :class="{on: n === table.on}"><td v-for="(c, k) in r" :class="{num: table.nums?.includes(k)}"><a v-if="c && c.go" class="chip" :href="c.go" data-go>{{ c.t }}</a><template v-else>{{ c }}</template></td></tr></tbody></table>
    <p v-if="!table.rows.length" class="soft" style="padding-top:8px">{{ table.none || "Nothing yet." }}</p></div>`,
};
