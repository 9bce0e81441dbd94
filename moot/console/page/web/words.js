import { reactive } from "vue";

// Texts and times for people. Instants are shown in UTC, whatever time zone the browser believes it is in.

export const day = (t) => new Date(t).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
export const clockTime = (t) => t.slice(11, 16);
export const minute = (t) => (t ? `${t.slice(0, 10)} ${t.slice(11, 16)}` : "");

export function duration(ms) {
  const s = Math.round(Math.abs(ms) / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s < 600 ? ` ${String(s % 60).padStart(2, "0")} s` : ""}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export const remaining = (due, now) => (due === null || now === null ? "" : due >= now ? duration(due - now) : `late ${duration(now - due)}`);

// How the ids of cases begin is the rulebook's business: the page says it once, at its start.
let PARTS = /$^/g;
const VERDICTS = "APPROVE|APPROVED|REJECT|REJECTED|REVISE|PASS|CONDITIONAL_PASS|DEPLOY|DEPLOY_MODIFIED|HALT|CRITICAL|WARNING|URGENT";
export function knowCases(prefixes) { PARTS = new RegExp(`\\b(?:${prefixes.join("|")})_[0-9][\\w-]*(?:\\/[\\w-]+)*|\\b(?:${VERDICTS})\\b`, "g"); }
const GOOD = new Set(["APPROVE", "APPROVED", "PASS", "DEPLOY"]);
const MID = new Set(["REVISE", "CONDITIONAL_PASS", "DEPLOY_MODIFIED", "WARNING"]);

// Titles of cases, by id. One that is not known yet is asked for together with others; until then the id reads as
// the kind of its case and its time.
const TITLES = reactive({});
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const BATCH_MS = 15, MAX_BATCH = 100;
let nouns = {}, request = null, timer = null;
const wanted = new Set(), requested = new Set();
export function knowTitles(found, names, ask) { Object.assign(TITLES, found || {}); if (names) nouns = names; if (ask) request = ask; }
async function fetchTitles() {
  timer = null;
  const ids = [...wanted].slice(0, MAX_BATCH);
  for (const id of ids) { wanted.delete(id); requested.add(id); }
  if (wanted.size) timer = setTimeout(fetchTitles, BATCH_MS);
  try { Object.assign(TITLES, await request(ids)); } catch { for (const id of ids) requested.delete(id); }
}
export const nounOf = (id) => nouns[id.split("_")[0]] || "";
const ANY_ID = /(\b[A-Za-z-]+ )?\b([a-z]+)_(\d{4})(\d{2})(\d{2})(?:_(\d{2})(\d{2})\d*)?(?:_\d+)?\b(?:\/[\w./-]*\w)?/g;
// "deployment dep_…" says the kind already.
const isSame = (before, noun) => Boolean(before) && before.trim().toLowerCase() === noun;
export const unnumbered = (text) => (text || "").replace(ANY_ID, (all, before, kind, y, m, d, h, min) => (nouns[kind] && MONTHS[m - 1] ? `${isSame(before, nouns[kind]) ? before : `${before || ""}${nouns[kind]} `}of ${Number(d)} ${MONTHS[m - 1]}${h ? ` ${h}:${min}` : ""}` : all));
export function titleOf(given) {
  const id = (given || "").split("/")[0];
  if (TITLES[id]) return TITLES[id];
  if (request && id && !wanted.has(id) && !requested.has(id)) { wanted.add(id); timer = timer || setTimeout(fetchTitles, BATCH_MS); }
  return cap(unnumbered(id));
}
// At most so many characters, cut behind a word.
export function shortened(text, most) {
  if (text.length <= most) return text;
  const head = text.slice(0, most).replace(/\s+\S*$/, "");
  return `${(head || text.slice(0, most - 1)).replace(/[ .,;:…]+$/, "")}…`;
}

// Cuts a sentence into texts, ids of cases and verdicts; every part is shown as text.
export function parts(text) {
  const found = [];
  let at = 0;
  for (const m of text.matchAll(PARTS)) {
    if (m.index > at) found.push({ t: text.slice(at, m.index) });
    if (/^[a-z]/.test(m[0])) found.push({ id: m[0].split("/")[0], t: m[0] });
    else found.push({ word: GOOD.has(m[0]) ? "good" : MID.has(m[0]) ? "mid" : "bad", t: m[0] });
    at = m.index + m[0].length;
  }
  if (at < text.length) found.push({ t: text.slice(at) });
  return found;
}

export const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
export const say = (name) => name.replaceAll("_", " ");
export const cap = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");

const ICONS = {
  menu: "M4 7h16M4 12h16M4 17h16", owes: "M5 5h14v14H5zM9 9h6M9 13h6", pause: "M9 6v12M15 6v12", play: "M8 5.5v13l10-6.5z",
  step: "M6 6v12l8-6zM17 6v12", past: "M4 12a8 8 0 1 0 2.6-5.9M4 4v4h4M12 8v4l3 2", help: "M9.5 9a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 16.5v.1", find: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15.5 15.5 20 20", close: "M6 6l12 12M18 6 6 18",
};
// A link to a case: its title, with the id as a tooltip.
export const CaseLink = { props: { id: String, most: { type: Number, default: 44 }, lead: { type: String, default: "" } }, methods: { titleOf, shortened }, template: `<a class="chip" :href="'/case/' + encodeURIComponent(id)" data-go :title="titleOf(id) + ' (' + id + ')'" :data-case="id">{{ lead }}{{ shortened(titleOf(id), most) }}</a>` };

// Cuts a text into parts, of which those that match a searched word are marked.
export function marked(text, words) {
  if (!words?.length || !text) return [{ t: text }];
  const any = new RegExp(`(${words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return text.split(any).map((t, n) => ({ t, hit: n % 2 === 1 })).filter((p) => p.t);
}
export const Marked = { props: { text: String, words: Array }, computed: { parts() { return marked(this.text, this.words); } }, template: `<template v-for="p in parts"><mark v-if="p.hit">{{ p.t }}</mark><template v-else>{{ p.t }}</template></template>` };

export const Icon = { props: { name: String }, data: () => ({ icons: ICONS }), template: `<svg viewBox="0 0 24 24" aria-hidden="true"><path :d="icons[name]"/></svg>` };
