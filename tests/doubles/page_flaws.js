// What axe-core's rules for structure would find: landmarks, headings, roles, names, labels, lists, focus.
() => {
  const found = [], all = [...document.querySelectorAll(".moot, .moot *")];
  const shown = (e) => e.checkVisibility({ visibilityProperty: true });
  const tell = (rule, e) => found.push(`${rule}: ${e.outerHTML.slice(0, 140)}`);
  const one = (rule, selector) => { const n = [...document.querySelectorAll(selector)].filter(shown).length; if (n !== 1) found.push(`${rule}: ${n} of ${selector}`); };
  const ROLES = ["alert", "dialog", "img", "listbox", "log", "option", "region", "search", "status", "tab", "tablist", "tabpanel", "group", "presentation", "none"];
  const SECTIONING = "header, nav, main, aside, footer, section, form, a, button, input, select, textarea, article, ul, ol, dialog, [role]";

  if (!document.documentElement.lang) found.push("html-has-lang");
  if (!document.title.trim()) found.push("document-title");
  if (/maximum-scale=1(\.0)?\b|user-scalable=no/.test(document.querySelector("meta[name=viewport]")?.content || "")) found.push("meta-viewport");
  one("one main", "main:not([role=presentation])"); one("one banner", ".moot > header"); one("one h1", ".moot h1");
  const ids = all.map((e) => e.id).filter(Boolean);
  for (const id of new Set(ids.filter((id, n) => ids.indexOf(id) !== n))) found.push(`duplicate-id: ${id}`);

  let level = 1;
  for (const h of [...document.querySelectorAll(".moot main :is(h1, h2, h3, h4)")].filter(shown)) {
    const now = Number(h.tagName[1]);
    if (now > level + 1) tell("heading-order", h);
    level = now;
  }
  for (const e of all) {
    const role = e.getAttribute("role"), isShown = shown(e);
    if (role && !ROLES.includes(role)) tell("aria-roles", e);
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls"])
      for (const id of (e.getAttribute(name) || "").split(" ").filter(Boolean)) if (!document.getElementById(id)) tell(name, e);
    if (e.hasAttribute("aria-label") && !e.matches(SECTIONING) && !e.matches("svg")) tell("aria-label without a role", e);
    if (role === "tab" && (!e.hasAttribute("aria-selected") || !e.closest("[role=tablist]"))) tell("tab", e);
    if (role === "option" && !e.closest("[role=listbox]")) tell("option", e);
    if (e.matches("img") && !e.hasAttribute("alt")) tell("image-alt", e);
    if (e.matches("svg") && !e.closest("[aria-hidden=true], [role=img]")) tell("svg-img-alt", e);
    if (e.tabIndex > 0) tell("tabindex", e);
    if (e.closest("[aria-hidden=true]") && e.matches("a, button, input, select, textarea, [tabindex='0']")) tell("aria-hidden-focus", e);
    if (e.matches("ul, ol") && [...e.children].some((c) => !c.matches("li"))) tell("list", e);
    if (e.matches("li") && !e.parentElement.matches("ul, ol")) tell("listitem", e);
    if (e.matches("dt, dd") && !e.parentElement.matches("dl")) tell("dlitem", e);
    if (e.matches("th") && !e.textContent.trim()) tell("empty-table-header", e);
    if (!isShown) continue;
    if (e.matches("input, select, textarea") && !e.labels?.length && !e.getAttribute("aria-label")) tell("label", e);
    if (e.matches(":is(button, a, input, select, textarea) :is(button, a, input, select, textarea)")) tell("nested-interactive", e);
    const style = getComputedStyle(e), isScrolled = /auto|scroll/.test(style.overflowX + style.overflowY) && (e.scrollHeight > e.clientHeight + 2 || e.scrollWidth > e.clientWidth + 2);
    if (isScrolled && e.tabIndex < 0 && !e.matches("textarea") && ![...e.querySelectorAll("a, button, input, select, textarea, [tabindex='0']")].some(shown)) tell("scrollable-region-focusable", e);
    if (e.matches("button, select, input")) {
      const box = e.getBoundingClientRect();
      if (box.width && (box.width < 24 || box.height < 16)) tell(`target-size ${Math.round(box.width)}x${Math.round(box.height)}`, e);
    }
  }
  const walk = document.createTreeWalker(document.querySelector(".moot"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (walk.currentNode.textContent.trim() && shown(e) && !e.closest("header, nav, main, aside, footer, [role=dialog], .skip")) tell("region", e);
  }
  return [...new Set(found)];
}
