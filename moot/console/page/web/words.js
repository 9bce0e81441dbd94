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
export const Icon = { props: { name: String }, data: () => ({ icons: ICONS }), template: `<svg viewBox="0 0 24 24" aria-hidden="true"><path :d="icons[name]"/></svg>` };
