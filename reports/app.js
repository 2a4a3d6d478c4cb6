// What the whole page needs: data, theme, permalinks, opening and printing.
// The page reads the same without scripts; this only makes it handier.
"use strict";
const page = {
  data: JSON.parse(document.getElementById("report-data").textContent),
  onTheme: [],  // redraw functions
  onRank: [],   // called with the index of the chosen rank
};

/** A duration as a person would say it: "1.8 ms". */
page.duration = (ns) => {
  const size = Math.abs(ns);
  const [scale, unit] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  const value = ns / scale, digits = Math.abs(value) >= 100 || value === 0 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${unit}`;
};

/** An element with attributes and children; text children stay text. */
page.element = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

page.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

page.rankLabel = (rank) => {
  const who = rank.rank === null ? `process ${rank.pid}` : `rank ${rank.rank}`;
  return rank.device === null ? who : `${who}, device ${rank.device}`;
};

/** A choice of the ranks for which `has` holds, slowest first; none when there is but one. */
page.rankSelect = (has, label, choose) => {
  const step = (rank) => (rank.stepTimeNs ? rank.stepTimeNs.median : 0);
  const rows = page.data.ranks.map((rank, index) => ({ rank, index })).filter(({ rank }) => has(rank));
  rows.sort((a, b) => step(b.rank) - step(a.rank));
  const select = page.element("select", { "aria-label": label });
  rows.forEach(({ rank, index }, i) =>
    select.append(page.element("option", { value: index }, page.rankLabel(rank) + (i === 0 && rows.length > 1 ? " (slowest)" : ""))));
  select.hidden = rows.length < 2;
  select.addEventListener("change", () => choose(Number(select.value)));
  page.onRank.push((index) => {
    if (!rows.some((row) => row.index === index)) return;
    select.value = index;
    choose(index);
  });
  return { select, first: rows.length ? rows[0].index : -1 };
};

(() => {
  const root = document.documentElement, button = document.getElementById("theme"), themes = ["auto", "light", "dark"];
  const apply = (theme) => {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    page.onTheme.forEach((draw) => draw());
  };
  let theme = "auto";
  try { theme = localStorage.getItem("stallscope-theme") || "auto"; } catch { /* files may have no storage */ }
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("stallscope-theme", theme); } catch { /* as above */ }
    apply(theme);
  });
  apply(themes.includes(theme) ? theme : "auto");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.onTheme.forEach((draw) => draw()));

  // Open all, and everything open while printing.
  const expand = document.getElementById("expand");
  const folds = () => [...document.querySelectorAll("main details")];
  const findings = () => [...document.querySelectorAll(".finding > details")];
  const label = () => { expand.textContent = findings().every((fold) => fold.open) ? "Close all" : "Open all"; };
  expand.hidden = findings().length < 2;
  expand.addEventListener("click", () => {
    const open = !findings().every((fold) => fold.open);
    findings().forEach((fold) => { fold.open = open; });
    label();
  });
  findings().forEach((fold) => fold.addEventListener("toggle", label));
  label();
  let closed = [];
  addEventListener("beforeprint", () => { closed = folds().filter((fold) => !fold.open); closed.forEach((fold) => { fold.open = true; }); });
  addEventListener("afterprint", () => { closed.forEach((fold) => { fold.open = false; }); closed = []; });

  // #finding=FINGERPRINT&rank=3 opens the finding and chooses the rank.
  page.follow = () => {
    let wanted;
    try { wanted = new URLSearchParams(location.hash.slice(1)); } catch { return; }
    const finding = wanted.get("finding"), rank = wanted.get("rank");
    if (rank !== null) {
      const index = page.data.ranks.findIndex((row) => String(row.rank ?? `pid-${row.pid}`) === rank);
      if (index >= 0) page.onRank.forEach((choose) => choose(index));
    }
    const target = document.getElementById(finding === null ? `rank=${rank}` : `finding=${finding}`);
    if (!target) return;
    const fold = target.querySelector("details");
    if (fold) fold.open = true;
    target.scrollIntoView({ block: "start" });
    if (fold) fold.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", page.follow);
  addEventListener("load", page.follow);
})();
