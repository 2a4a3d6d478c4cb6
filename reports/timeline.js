// The timeline of one representative step per rank, on a canvas.
"use strict";
(() => {
  const host = document.getElementById("timeline-view");
  if (!host) return;
  const LANE = 17, LABEL = 18, RULER = 24, GAP = 5, STRIP = 11, MAX_LANES = 5;
  const KIND_COLOUR = { kernel: "compute", "graph-launch": "compute", collective: "communication", memcpy: "copy", memset: "copy",
    sync: "sync", overhead: "profiler" };
  const CLASS_COLOUR = { compute: "compute", "exposed-communication": "communication", "exposed-copy": "copy", "host-sync": "sync",
    "launch-bound": "launch", "host-work": "host", "input-wait": "input", "profiler-overhead": "profiler", other: "other" };
  const WHITE_TEXT = new Set(["profiler", "input"]);

  const canvas = page.element("canvas", { tabindex: "0", role: "application",
    "aria-label": "Timeline of a step. Keys: W and S zoom, A and D move, comma and full stop choose slices, F fits, question mark shows all keys." });
  const output = page.element("output", { "aria-live": "polite" });
  const { select, first } = page.rankSelect((rank) => rank.timeline !== null, "Rank shown in the timeline", (index) => show(index));
  if (first < 0) return;
  const note = page.element("span", { class: "fine" });
  const key = page.element("p", { class: "key" });
  for (const [name, text] of [["compute", "kernel"], ["communication", "collective"], ["copy", "copy"], ["sync", "blocking call"], ["other", "host call or range"]]) {
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    mark.setAttribute("viewBox", "0 0 10 10");
    mark.append(document.createElementNS("http://www.w3.org/2000/svg", "rect"));
    mark.firstChild.setAttribute("class", `key-${name}`);
    mark.firstChild.setAttribute("width", "10");
    mark.firstChild.setAttribute("height", "10");
    key.append(page.element("span", {}, mark, text));
  }
  host.append(page.element("div", { class: "panel" }, page.element("div", { class: "controls" }, select, note), canvas, key, output));
  host.hidden = false;

  let slices = [], tracks = [], strip = [], total = 1, start = 0, span = 1, chosen = -1, order = [];

  // Kernels of a collective library are drawn as what they do.
  const kindOf = (kind, name) => (kind === "kernel" && /nccl|rccl/i.test(name) ? "collective" : kind);

  function load(timeline) {
    const s = timeline.slices, hot = new Set(s.highlighted);
    slices = s.startNs.map((at, i) => ({ start: at, duration: s.durationNs[i], track: s.track[i], name: s.names[s.name[i]],
      kind: kindOf(s.kinds[s.kind[i]], s.names[s.name[i]]), hot: hot.has(i), lane: 0 }));
    total = Math.max(timeline.windowNs, 1);
    tracks = timeline.tracks.map((name) => ({ name, lanes: 1, y: 0 }));
    order = slices.map((_, i) => i).sort((a, b) => slices[a].start - slices[b].start || slices[b].duration - slices[a].duration);
    const ends = tracks.map(() => []);
    for (const i of order) {
      const slice = slices[i], free = ends[slice.track];
      if (!free) continue;
      let lane = 0;
      while (lane < free.length && free[lane] > slice.start && lane + 1 < MAX_LANES) ++lane;
      free[lane] = slice.start + slice.duration;
      slice.lane = lane;
      tracks[slice.track].lanes = Math.max(tracks[slice.track].lanes, lane + 1);
    }
    let y = RULER;
    for (const track of tracks) { y += LABEL; track.y = y; y += track.lanes * LANE + GAP; }
    const at = timeline.classes.startNs;
    strip = at.map((from, i) => ({ from, to: i + 1 < at.length ? at[i + 1] : total, name: timeline.classes.class[i] }));
    strip.y = y + LABEL;
    canvas.dataset.height = strip.length ? strip.y + STRIP + 8 : y + 4;
    note.textContent = `Step ${timeline.step}, ${page.duration(total)}` +
      (timeline.slicesLeftOut ? `; ${timeline.slicesLeftOut} shorter slices left out` : "");
  }

  function tickStep(most) {
    let step = 1;
    for (const factor of (function* () { for (;;) { yield 2; yield 2.5; yield 2; } })()) {
      if (span / step <= most) return step;
      step *= factor;
    }
  }

  function fitText(ctx, text, width) {
    if (width < 24) return "";
    if (ctx.measureText(text).width <= width) return text;
    let keep = Math.floor((text.length * width) / ctx.measureText(text).width);
    while (keep > 1 && ctx.measureText(text.slice(0, keep) + "…").width > width) --keep;
    return keep > 2 ? text.slice(0, keep) + "…" : "";
  }

  function draw() {
    const width = canvas.clientWidth, height = Number(canvas.dataset.height), ratio = devicePixelRatio || 1;
    if (!width) return;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const ctx = canvas.getContext("2d"), colours = {};
    const colour = (name) => (colours[name] ??= page.colour(name));
    ctx.scale(ratio, ratio);
    ctx.clearRect(0, 0, width, height);
    const x = (at) => ((at - start) / span) * width;
    ctx.font = `11px ${page.colour("sans")}`;
    ctx.textBaseline = "middle";

    const step = tickStep(Math.max(2, width / 110));
    ctx.strokeStyle = colour("line");
    ctx.fillStyle = colour("muted");
    for (let at = Math.ceil(start / step) * step; at <= start + span; at += step) {
      ctx.beginPath(); ctx.moveTo(x(at), RULER - 4); ctx.lineTo(x(at), height); ctx.stroke();
      ctx.fillText(page.duration(at), Math.min(x(at) + 3, width - 44), RULER / 2);
    }
    for (const track of tracks) { ctx.fillStyle = colour("muted"); ctx.fillText(track.name, 6, track.y - LABEL / 2); }
    slices.forEach((slice, i) => {
      const left = x(slice.start), right = x(slice.start + slice.duration);
      if (right < 0 || left > width || !tracks[slice.track]) return;
      const from = Math.max(left, -2), w = Math.max(Math.min(right, width + 2) - from, 1), y = tracks[slice.track].y + slice.lane * LANE;
      const name = slice.hot && slice.kind === "api" ? "sync" : KIND_COLOUR[slice.kind] || "other";
      ctx.fillStyle = colour(name);
      ctx.fillRect(from, y, w, LANE - 2);
      if (w > 3) { ctx.strokeStyle = colour("surface"); ctx.lineWidth = 1; ctx.strokeRect(from, y, w, LANE - 2); }
      const text = fitText(ctx, slice.name, w - 8);
      if (text) { ctx.fillStyle = WHITE_TEXT.has(name) ? "#fff" : "#000"; ctx.fillText(text, from + 4, y + LANE / 2 - 1); }
      if (i === chosen) { ctx.strokeStyle = colour("ink"); ctx.lineWidth = 2; ctx.strokeRect(from, y, w, LANE - 2); }
    });
    if (strip.length) { ctx.fillStyle = colour("muted"); ctx.fillText("class of each instant", 6, strip.y - LABEL / 2); }
    for (const part of strip) {
      ctx.fillStyle = colour(CLASS_COLOUR[part.name] || "other");
      ctx.fillRect(x(part.from), strip.y, Math.max(x(part.to) - x(part.from), 0.5), STRIP);
    }
  }

  let pending = false;
  const redraw = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; draw(); });
  };

  function view(newStart, newSpan) {
    span = Math.min(Math.max(newSpan, 50), total);
    start = Math.min(Math.max(newStart, 0), total - span);
    canvas.dataset.start = Math.round(start);
    canvas.dataset.span = Math.round(span);
    redraw();
  }
  const zoom = (factor, at = start + span / 2) => view(at - (at - start) * factor, span * factor);

  function choose(index) {
    chosen = index;
    const slice = slices[index];
    if (!slice) { output.textContent = ""; redraw(); return; }
    output.textContent = `${slice.name} · ${page.duration(slice.duration)} from ${page.duration(slice.start)} on ${tracks[slice.track].name}` +
      (slice.hot && slice.kind === "api" ? " · blocks the host" : "");
    output.title = `${slice.duration} ns`;
    if (slice.start < start || slice.start + Math.min(slice.duration, span) > start + span) view(slice.start - span * 0.1, span);
    else redraw();
  }
  const move = (by) => {
    const at = order.indexOf(chosen);
    choose(order[at < 0 ? (by > 0 ? 0 : order.length - 1) : Math.min(Math.max(at + by, 0), order.length - 1)]);
  };
  function fit() {
    const slice = slices[chosen];
    const wanted = slice ? Math.max(slice.duration * 1.25, 50) : total;
    if (!slice || Math.abs(span - wanted) < 1) view(0, total);
    else view(slice.start - (wanted - slice.duration) / 2, wanted);
  }
  const help = () => document.getElementById("keys").showModal();
  const KEYS = { w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => view(start - span * 0.15, span), d: () => view(start + span * 0.15, span),
    ".": () => move(1), ",": () => move(-1), f: fit, "?": help, escape: () => choose(-1) };
  canvas.addEventListener("keydown", (event) => {
    const act = KEYS[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  const at = (event) => {
    const box = canvas.getBoundingClientRect(), y = event.clientY - box.top;
    const time = start + ((event.clientX - box.left) / box.width) * span, slack = (2 / box.width) * span;
    return { time, index: slices.findIndex((slice) => {
      const top = tracks[slice.track] ? tracks[slice.track].y + slice.lane * LANE : -99;
      return y >= top && y < top + LANE && time >= slice.start - slack && time <= slice.start + slice.duration + slack;
    }) };
  };
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, start, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) { const hit = slices[at(event).index]; canvas.title = hit ? `${hit.name}, ${page.duration(hit.duration)}` : ""; return; }
    const by = event.clientX - drag.x;
    if (Math.abs(by) > 3) drag.moved = true;
    if (drag.moved) view(drag.start - (by / canvas.clientWidth) * span, span);
  });
  canvas.addEventListener("pointerup", (event) => { if (drag && !drag.moved) choose(at(event).index); drag = null; });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;  // the plain wheel scrolls the page
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, at(event).time);
  }, { passive: false });

  function show(index) {
    load(page.data.ranks[index].timeline);
    canvas.dataset.rank = index;
    choose(-1);
    view(0, total);
  }
  page.onTheme.push(redraw);
  new ResizeObserver(redraw).observe(host);
  show(first);

  // ui.perfetto.dev and chrome://tracing read this; it is the step shown above.
  const button = document.getElementById("download");
  button.hidden = false;
  button.addEventListener("click", () => {
    const timeline = page.data.ranks[Number(canvas.dataset.rank)].timeline;
    const events = tracks.map((track, tid) => ({ ph: "M", name: "thread_name", pid: 1, tid, args: { name: track.name } }))
      .concat(slices.map((slice) => ({ ph: "X", name: slice.name, cat: slice.kind, pid: 1, tid: slice.track, ts: slice.start / 1e3, dur: slice.duration / 1e3 })));
    const url = URL.createObjectURL(new Blob([JSON.stringify({ traceEvents: events })], { type: "application/json" }));
    page.element("a", { href: url, download: `stallscope-step-${timeline.step}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
})();
