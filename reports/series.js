// The time of every step as a chart; the table below it has the same numbers.
"use strict";
(() => {
  const host = document.getElementById("series-view");
  if (!host || typeof uPlot === "undefined") return;
  const { select, first } = page.rankSelect((rank) => rank.steps !== null && rank.steps.index.length > 1, "Rank shown in the chart", (index) => show(index));
  if (first < 0) return;
  const place = page.element("div"), note = page.element("span", { class: "fine" });
  host.append(page.element("div", { class: "panel" }, page.element("div", { class: "controls" }, select, note), place));
  host.hidden = false;
  let plot = null, current = first;

  function show(index) {
    current = index;
    const { steps } = page.data.ranks[index], used = steps.use.map((use) => use === "used");
    const times = steps.durationNs.map((ns) => ns / 1e6);
    const median = page.data.ranks[index].stepTimeNs;
    note.textContent = `Time per step of ${page.rankLabel(page.data.ranks[index])}` + (median ? `, median ${page.duration(median.median)}` : "");
    const data = [steps.index, times.map((t, i) => (used[i] ? t : null)), times.map((t, i) => (used[i] ? null : t))];
    const ink = page.colour("muted"), line = page.colour("line"), font = `12px ${page.colour("sans")}`;
    const axis = { stroke: ink, font, labelFont: font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const whole = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((n) => [n, 2 * n, 5 * n]);  // no half steps
    const ms = (self, value) => (value === null || value === undefined ? "–" : page.duration(value * 1e6));
    if (plot) plot.destroy();
    plot = new uPlot({
      width: Math.max(host.clientWidth, 260), height: 230, cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (self, low, high) => [0, high * 1.05] } },
      axes: [{ ...axis, label: "step", labelSize: 22, incrs: whole }, { ...axis, label: "ms per step", labelSize: 22, size: 56 }],
      series: [{ label: "Step" },
        { label: "Used", stroke: page.colour("link"), width: 1.5, value: ms },
        { label: "Discarded (warm-up, first, last)", stroke: page.colour("launch"), value: ms, points: { show: true, size: 5 }, paths: () => null }],
    }, data, place);
  }
  page.onTheme.push(() => show(current));
  let width = 0;
  new ResizeObserver(() => {
    if (!plot || Math.abs(host.clientWidth - width) < 2) return;
    width = host.clientWidth;
    plot.setSize({ width: Math.max(width, 260), height: 230 });
  }).observe(host);
  show(first);
})();
