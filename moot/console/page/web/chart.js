// Figures by ECharts, which comes with NiceGUI and is loaded when a page first draws one.
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const SERIES = ["--accent", "--bar-hot", "--good", "--warn", "--faint"];

function option(f) {
  const ink = css("--soft"), line = css("--line"), font = { color: ink, fontFamily: css("--font"), fontSize: 11.5 };
  const colours = (f.colours || SERIES).map(css);
  const base = { color: colours, animation: false, textStyle: font, tooltip: { trigger: f.kind === "radar" ? "item" : "axis", renderMode: "richText", backgroundColor: css("--raised"), borderColor: line, textStyle: { ...font, color: css("--ink") }, confine: true },
    legend: f.series.length > 1 ? { top: 0, left: 0, icon: "roundRect", itemWidth: 10, itemHeight: 10, textStyle: font } : undefined };
  if (f.kind === "radar") return { ...base, tooltip: { ...base.tooltip, trigger: "item" }, radar: { indicator: f.x.map((name) => ({ name: name.replaceAll(" ", "\n"), max: 1, min: 0 })), radius: "58%", center: ["50%", "56%"], axisName: { color: ink, fontSize: 11, lineHeight: 13 }, splitLine: { lineStyle: { color: line } }, axisLine: { lineStyle: { color: line } }, splitArea: { show: false } },
    series: [{ type: "radar", symbolSize: 4, data: f.series.map((s) => ({ name: s.name, value: s.data, areaStyle: { opacity: 0.1 } })) }] };
  const all = f.series.flatMap((s) => s.data).filter((v) => v !== null), low = Math.min(...all), high = Math.max(...all), pad = Math.max((high - low) * 0.08, Math.abs(high) * 0.002, 0.001);
  const flat = f.kind === "line" && all.length && high - low < Math.abs(high) * 0.0005;
  const ends = { ...(flat ? { min: Number((low - pad).toPrecision(4)), max: Number((high + pad).toPrecision(4)) } : {}), ...(f.top === undefined ? {} : { max: f.top, ...(low === 0 ? { min: -1, interval: 0.25 } : {}) }) };
  const value = { ...ends, type: "value", scale: f.kind === "line", splitLine: { lineStyle: { color: line } }, axisLabel: { ...font, hideOverlap: true, margin: 10, showMinLabel: !flat, showMaxLabel: !flat }, minInterval: f.whole ? 1 : 0 };
  const names = { type: "category", data: f.x, axisLine: { lineStyle: { color: line } }, axisTick: { show: false }, axisLabel: { ...font, hideOverlap: true, margin: 12, ...(f.flat ? { interval: 0, width: 130, overflow: "truncate" } : { alignMinLabel: f.kind === "line" ? "left" : undefined, alignMaxLabel: f.kind === "line" ? "right" : undefined }) }, boundaryGap: f.kind !== "line", inverse: Boolean(f.flat) };
  return { ...base, grid: { left: 4, right: 26, top: f.series.length > 1 ? 32 : 12, bottom: 4, containLabel: true }, xAxis: f.flat ? value : names, yAxis: f.flat ? names : value,
    series: f.series.map((s) => ({ name: s.name, data: s.data, type: f.kind === "line" ? "line" : "bar", stack: f.stack ? "all" : undefined, showSymbol: s.data.length < 3, lineStyle: { width: 1.8 }, barMaxWidth: 22, areaStyle: f.fill ? { opacity: 0.12 } : undefined })) };
}

export const Chart = {
  props: { figure: Object },
  computed: { text() { return `${this.figure.title}: ` + this.figure.series.map((s) => `${s.name || ""} ${s.data.length} values, last ${s.data[s.data.length - 1]}`).join("; "); } },
  watch: { figure() { this.draw(); } },
  async mounted() {
    const { echarts } = await import("nicegui-echart");
    if (!this.$refs.box) return;
    this.chart = echarts.init(this.$refs.box, null, { renderer: "svg" });
    this.sizes = new ResizeObserver(() => this.chart.resize());
    this.sizes.observe(this.$refs.box);
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", this.draw);
    this.draw();
  },
  beforeUnmount() { this.sizes?.disconnect(); this.dark?.removeEventListener("change", this.draw); this.chart?.dispose(); },
  methods: { draw() { this.chart?.setOption(option(JSON.parse(JSON.stringify(this.figure))), true); } },
  template: `<figure><div ref="box" class="chart" role="img" :aria-label="text" :style="{height: (figure.height || 250) + 'px'}"></div></figure>`,
};
