// Drawings come as text from the session. Shapes and their labels are taken from it, and nothing that runs, loads or links.
const TAGS = new Set(["div", "ul", "li", "p", "b", "span", "svg", "path", "line", "rect", "circle"]);
const NAMED = new Set(["class", "role", "aria-label", "aria-hidden", "viewBox", "preserveAspectRatio", "d", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "width", "height", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "style"]);

function copied(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (!TAGS.has(node.localName)) return null;
  const made = document.createElementNS(node.namespaceURI, node.localName);
  for (const { name, value } of node.attributes) if (NAMED.has(name) && !(name === "style" && value.includes("("))) made.setAttribute(name, value);
  made.append(...shapes(node));
  return made;
}
const shapes = (node) => [...node.childNodes].map(copied).filter(Boolean);

export const Drawing = {
  props: { html: String },
  watch: { html() { this.draw(); } },
  mounted() { this.draw(); },
  methods: { draw() { this.$refs.box.replaceChildren(...shapes(new DOMParser().parseFromString(this.html, "text/html").body)); } },
  template: `<div ref="box"></div>`,
};
