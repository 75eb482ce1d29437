// SPDX-License-Identifier: MIT
/*
 * The page of `nopwatch report -f html`: pictures and tables of the data in #data, which
 * docs/html.md explains. No library, no request. Whatever comes from the program that was
 * traced goes into the page by textContent.
 */
(() => {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const about = data.about;
  const bins = data.bins || { width_ns: 1, count: 1, probe_shift: 0, span_shift: 0, losses: [] };
  /* A difference: two sides, each of which has columns of its own, one for each run or slice of time. */
  const compared = data.compared || null, byRun = Boolean(compared) && compared.units === "run";
  if (compared) {
    bins.count = Math.max(compared.before.count, compared.after.count, 1);
    bins.width_ns = byRun ? 1 : Number(compared.slice_ns) * compared.units_in_bin;
  }
  const OCTAVE = 32; // the histogram's buckets in a power of two
  const LINES = [
    { key: "p50", p: 0.5, dash: [] },
    { key: "p90", p: 0.9, dash: [7, 4] },
    { key: "p99", p: 0.99, dash: [2, 3] },
    { key: "max", p: 1, dash: [] },
  ];
  const STATISTICS = [["p50", 0.5], ["p90", 0.9], ["p99", 0.99], ["p999", 0.999]];
  const MOST_PANELS = 12;

  // ---- elements --------------------------------------------------------------------------

  const at = (id) => document.getElementById(id);

  /* element("td", "text") or element("td", { className: ... }, child, "text", ...) */
  function element(name, ...rest) {
    const made = document.createElement(name);
    for (const it of rest) {
      if (it === null || it === undefined) continue;
      if (it instanceof Node) made.append(it);
      else if (typeof it === "object") {
        for (const [key, value] of Object.entries(it)) {
          if (key.startsWith("aria-") || key.startsWith("data-") || key === "role" || key === "scope") made.setAttribute(key, value);
          else made[key] = value;
        }
      } else made.append(document.createTextNode(String(it)));
    }
    return made;
  }

  // ---- numbers ---------------------------------------------------------------------------

  const UNITS = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

  function duration(ns) {
    const value = Number(ns);
    if (!Number.isFinite(value)) return "";
    if (Math.abs(value) >= 120e9) return clock(value, 1e9);
    let [unit, size] = UNITS[0];
    for (const [name, least] of UNITS) if (Math.abs(value) >= least) [unit, size] = [name, least];
    return `${three(value / size)} ${unit}`;
  }

  function three(value) {
    const size = Math.abs(value);
    if (size === 0 || Number.isInteger(value) && size < 1000) return String(value);
    return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  }

  const count = (n) => Number(n).toLocaleString("en-US");

  function rate(hz) {
    if (hz >= 999500) return `${three(hz / 1e6)}M/s`;
    return hz >= 999.5 ? `${three(hz / 1e3)}k/s` : `${three(hz)}/s`;
  }

  /* 1:02:03 of a long run; step: what the hands must tell apart. */
  function clock(ns, step) {
    const seconds = ns / 1e9, whole = Math.floor(seconds);
    const two = (n) => String(n).padStart(2, "0");
    const h = Math.floor(whole / 3600), m = Math.floor(whole / 60) % 60;
    const rest = step < 1e9 ? (seconds % 60).toFixed(Math.ceil(9 - Math.log10(step))).padStart(3 + Math.ceil(9 - Math.log10(step)), "0") : two(whole % 60);
    return h ? `${h}:${two(m)}:${rest}` : `${m}:${rest}`;
  }

  function wall(ns) {
    return about.began_ns ? new Date((Number(about.began_ns) + ns) / 1e6).toISOString().replace("T", " ").replace("Z", " UTC") : "";
  }

  // ---- buckets: as src/measure/histogram.h numbers them, of which 2^shift are one ----------

  function bucketLow(bucket) {
    const block = Math.floor(bucket / OCTAVE), inside = bucket % OCTAVE;
    return block ? (OCTAVE + inside) * 2 ** (block - 1) : bucket;
  }

  const lowOf = (bucket, shift) => bucketLow(bucket * 2 ** shift);
  const highOf = (bucket, shift) => bucketLow((bucket + 1) * 2 ** shift) - 1;

  /* Where a value is on the scale of buckets, with what is behind the point. */
  function bucketAt(value, shift) {
    if (value < OCTAVE) return Math.max(value, 0) / 2 ** shift;
    const coarse = Math.floor(Math.log2(value)) - 5;
    return (coarse * OCTAVE + value / 2 ** coarse) / 2 ** shift;
  }

  const bucketOf = (value, shift) => Math.floor(bucketAt(value, shift) + 1e-9);

  // ---- rows ------------------------------------------------------------------------------

  /* What a span's thread did: as src/measure/sched/task_states.c has it. */
  const STATES = [["running", "Running"], ["runnable", "Runnable"], ["sleeping", "Sleeping"], ["disk", "Disk"], ["others", "Other threads"]];
  const stateSum = (row, key) => Number(((row.states_ns || {})[key] || {}).sum || 0);
  const stateTotal = (row) => STATES.reduce((sum, [key]) => sum + stateSum(row, key), 0);
  const hasStates = (row) => stateTotal(row) > 0;
  const percent = (part, whole) => whole ? `${three(100 * part / whole)} %` : "";

  const isSpan = (row) => row.type === "span";
  const nameOf = (row) => isSpan(row) ? row.span : row.probe;
  const sizesOf = (row) => isSpan(row) ? row.latency_ns : row.gap_ns;
  const whatOf = (row) => isSpan(row) ? "latency" : "gap between hits";
  const shiftOf = (row) => isSpan(row) ? bins.span_shift : bins.probe_shift;
  const notMeasured = (row) => data.unmeasured.reduce((sum, key) => sum + Number(row[key] || 0), 0);

  /* The columns of a row's picture: { bin, others, min, max, cells: [[bucket, count], ...] }. */
  function unpack(row) {
    return (row.columns || []).map((packed) => {
      const cells = [];
      let bucket = 0;
      for (let i = 4; i < packed.length; i += 2) {
        bucket += packed[i];
        cells.push([bucket, packed[i + 1]]);
      }
      return { bin: packed[0], others: packed[1], min: Number(packed[2]), max: Number(packed[3]), cells };
    });
  }

  for (const row of data.rows) row.bars = unpack(row);

  /* What is in the bins first..last and the buckets low..high of a row (its own buckets). */
  function regionOf(row, first, last, low, high) {
    const shift = shiftOf(row), found = new Map(), columns = [];
    let all = 0, others = 0;
    for (const column of row.bars) {
      if (column.bin < first || column.bin > last) continue;
      columns.push(column);
      others += column.others;
      for (const [bucket, n] of column.cells) {
        if (bucket < low || bucket > high) continue;
        found.set(bucket, (found.get(bucket) || 0) + n);
        all += n;
      }
    }
    const cells = [...found].sort((a, b) => a[0] - b[0]);
    const region = { count: all, others, cells, shift };
    if (!all) return region;
    /* The smallest or the largest value, where the columns tell it; else only its bucket is known. */
    const edge = (bucket, key, pick) => {
      const there = columns.filter((c) => c.cells.some((cell) => cell[0] === bucket));
      return there.every((c) => bucketOf(c[key], shift) === bucket) ? pick(...there.map((c) => c[key])) : undefined;
    };
    const top = cells[cells.length - 1][0];
    region.least = edge(cells[0][0], "min", Math.min);
    region.most = edge(top, "max", Math.max);
    region.min = region.least === undefined ? lowOf(cells[0][0], shift) : region.least;
    region.max = region.most === undefined ? highOf(top, shift) : region.most;
    return region;
  }

  /* As nw_histogram_percentile(): the middle of the bucket that holds that rank, cut to the region's values. */
  function percentile(region, p) {
    const rank = Math.max(1, Math.ceil(p * region.count));
    let seen = 0;
    if (rank === region.count && region.most !== undefined) return region.most;
    if (rank === 1 && region.least !== undefined) return region.least;
    for (const [bucket, n] of region.cells) {
      seen += n;
      if (seen < rank) continue;
      const low = Math.max(lowOf(bucket, region.shift), region.min), high = Math.min(highOf(bucket, region.shift), region.max);
      return low + Math.floor((high - low) / 2);
    }
    return region.max;
  }

  // ---- the header ------------------------------------------------------------------------

  function showAbout() {
    const spans = new Set(data.rows.filter(isSpan).map(nameOf)).size;
    const probes = new Set(data.rows.filter((row) => !isSpan(row)).map(nameOf)).size;
    const hits = data.rows.filter((row) => !isSpan(row)).reduce((sum, row) => sum + Number(row.hits), 0);
    const many = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
    at("summary").textContent = `${many(hits, "hit")} of ${many(probes, "probe")} and ${many(spans, "span")} in ${duration(about.elapsed_ns)}`;
    document.title = [`nopwatch: ${data.rows.length ? nameOf(data.rows[0]) : "no events"}${about.host ? ` on ${about.host}` : ""}`,
      wall(0) && wall(0).replace(/(:[0-9]{2})[.][0-9]+/, "$1")].filter(Boolean).join(", ");
    at("title").textContent = document.title;
    const lost = Number(about.lost);
    const facts = [
      ["Command", about.command && element("code", about.command)],
      ["From", about.source && element("code", about.source)],
      ["Where", [about.host, about.machine].filter(Boolean).join(", ")],
      ["Kernel", about.kernel],
      ["When", wall(0) && `${wall(0)}, for ${duration(about.elapsed_ns)}`],
      ["Ended by", about.reason === "end" ? "" : about.reason],
      ["Lost", lost ? `${about.lost_is_least ? "at least " : ""}${many(lost, "event")}` : "nothing"],
      ["Not recorded", about.dropped && `${count(about.dropped)} ${about.dropped_text}`],
      ["Filtered", about.filtered !== undefined && `${many(Number(about.filtered), "hit")}`],
      ["Cost", about.cost],
      ["Latencies", about.net && "net of the probe overhead"],
      ["Grouped by", about.by],
      ["Stacks of spans", about.stacks_of && `only of ${about.stacks_of}`],
      ["Made by", `nopwatch ${about.nopwatch}`],
    ];
    for (const [name, value] of facts) if (value) at("about").append(element("dt", name), element("dd", value));
    const warnings = [];
    if (lost) warnings.push(`${about.lost_is_least ? "At least " : ""}${many(lost, "event")} ${lost === 1 ? "was" : "were"} lost: counts with a + are too low, and spans during a loss are not measured. Losses are grey in the pictures.`);
    if (data.left_out) warnings.push("There are more rows or pictures than this page holds: -f json has all numbers, --top and narrower specs choose.");
    at("warnings").textContent = warnings.join(" ");
  }

  // ---- colours ---------------------------------------------------------------------------

  let colours;

  function parseColour(text) {
    const hex = text.trim().slice(1);
    return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
  }

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    colours = {};
    for (const key of ["back", "front", "quiet", "line", "plot", "cold", "warm", "hot", "lost", "p50", "p90", "p99", "max", "mark", "accent", "more", "fewer", ...STATES.map(([key]) => key)])
      colours[key] = style.getPropertyValue(`--${key}`).trim();
    const stops = [colours.cold, colours.warm, colours.hot].map(parseColour);
    colours.heat = Array.from({ length: 64 }, (_, i) => {
      const x = i / 63 * 2, from = stops[Math.min(Math.floor(x), 1)], to = stops[Math.min(Math.floor(x), 1) + 1];
      const part = x - Math.min(Math.floor(x), 1);
      return `rgb(${from.map((c, j) => Math.round(c + (to[j] - c) * part)).join(",")})`;
    });
  }

  // ---- pictures --------------------------------------------------------------------------

  let shown = null; // the row whose picture is shown
  let panels = [];
  let selection = null; // { panel, first, last, low, high }, in bins and buckets
  const switched = { p50: true, p90: false, p99: true, max: false };

  /* The sizes that all panels have in common, so that they can be compared. */
  function scaleOf(rows) {
    let low = Infinity, high = -Infinity, most = 0;
    for (const row of rows) {
      const rates = new Map();
      for (const column of row.bars) {
        for (const [bucket] of column.cells) {
          low = Math.min(low, bucket);
          high = Math.max(high, bucket);
        }
        rates.set(column.bin, hitsOf(row, column));
      }
      most = Math.max(most, ...rates.values(), 0);
    }
    if (low > high) return { low: 0, high: 1, most: 1, empty: true };
    const shift = shiftOf(rows[0]), margin = Math.max(1, Math.round((OCTAVE >> shift) / 4));
    return { low: Math.max(0, low - margin), high: high + margin, most: Math.max(1, most), empty: false };
  }

  /* How often it happened in a column: spans that ended, hits of a probe. */
  function hitsOf(row, column) {
    const measured = column.cells.reduce((sum, cell) => sum + cell[1], 0);
    return isSpan(row) ? measured : measured + column.others;
  }

  function layout(width, states) {
    const left = 62, side = width < 560 ? 56 : 130, gap = 10;
    const plot = Math.max(40, width - left - side - gap);
    const height = width < 560 ? 220 : 280;
    const statesHeight = states ? 60 : 0, rateTop = height + 22 + (states ? statesHeight + 22 : 0);
    return { left, top: 8, plot, height, side: left + plot + gap, sideWidth: side - 4, statesTop: height + 22, statesHeight, rateTop, rateHeight: 52, full: rateTop + 52 + 26 };
  }

  const widthNs = bins.width_ns * bins.count;
  /* The picture ends where the run did, in the middle of the last bin. */
  const spanNs = Math.min(widthNs, Math.max(Number(about.elapsed_ns), bins.width_ns)) || widthNs;
  const shownBins = Math.max(1, spanNs / bins.width_ns);

  function ticks(limit, most) {
    const steps = [];
    for (let size = 1; size < 1e9; size *= 10) steps.push(size, 2 * size, 5 * size);
    for (const s of [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400]) steps.push(s * 1e9);
    for (let days = 2; days < 4e5; days *= 2) steps.push(days * 86400e9);
    const step = steps.find((s) => limit / s <= most) || steps[steps.length - 1];
    const found = [];
    for (let t = 0; t <= limit; t += step) found.push(t);
    return { step, found };
  }

  function timeText(ns, step) {
    if (byRun) return `run ${ns * compared.units_in_bin + 1}`;
    if (ns === 0) return "0";
    return spanNs >= 120e9 ? clock(ns, step) : duration(ns);
  }

  class Panel {
    constructor(rows, row, scale, named) {
      this.row = row;
      this.scale = scale;
      this.rows = rows;
      this.cursor = { bin: Math.floor((bins.count - 1) / 2), bucket: Math.round((scale.low + scale.high) / 2) };
      this.canvas = element("canvas");
      this.overlay = element("canvas", { className: "overlay" });
      this.box = element("div", {
        className: "plot", tabIndex: 0, role: "application",
        "aria-roledescription": "heat map", "aria-label": this.describe(),
      }, this.canvas);
      this.figure = element("figure", named ? element("figcaption", row.group === "" ? "(empty)" : row.group) : null, this.box);
      this.listen();
    }

    describe() {
      const row = this.row, sizes = sizesOf(row);
      if (!Number(sizes.count)) return `${nameOf(row)}: nothing was measured`;
      const group = row.group === undefined ? "" : `, ${row.group}`;
      return `${nameOf(row)}${group}: ${whatOf(row)} over time, ${count(sizes.count)}${about.elapsed_ns === undefined ? "" : ` in ${duration(about.elapsed_ns)}`}, ` +
        `p50 ${duration(sizes.p50)}, p99 ${duration(sizes.p99)}, at most ${duration(sizes.max)}.${this.gone()} Arrow keys move, Shift selects.`;
    }

    /* What is grey, in words. */
    gone() {
      const off = disabledAt(this.row), events = bins.losses.reduce((sum, l) => sum + Number(l[1]), 0);
      return (bins.losses.length ? ` ${events ? `${count(events)} events` : "Events"} were lost.` : "") + (off === null ? "" : ` Disabled after ${duration(off)}.`);
    }

    x(bin) {
      return this.at.left + Math.min(bin / shownBins, 1) * this.at.plot;
    }

    y(bucket) {
      const { low, high } = this.scale;
      return this.at.top + (1 - (bucket - low) / (high + 1 - low)) * (this.at.height - this.at.top);
    }

    draw() {
      const width = Math.max(200, this.box.clientWidth), at = this.at = layout(width, hasStates(this.row));
      const ratio = Math.min(window.devicePixelRatio || 1, 3);
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(at.full * ratio);
      this.canvas.style.height = `${at.full}px`;
      const g = this.g = this.canvas.getContext("2d");
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.clearRect(0, 0, width, at.full);
      g.font = "11px system-ui, sans-serif";
      g.textBaseline = "middle";
      g.fillStyle = colours.plot;
      g.fillRect(at.left, at.top, at.plot, at.height - at.top);
      this.measureCells();
      this.drawHeat();
      this.drawTimes();
      this.drawGone();
      this.drawLines();
      this.drawSizes();
      this.drawHistogram();
      this.drawStates();
      this.drawRate();
      const missing = !this.row.bars.length && Number(sizesOf(this.row).count) > 0;
      if (missing) this.say("measured, but its picture is left out", at.left + at.plot / 2, at.height / 2, "center");
      else if (this.scale.empty) this.say("nothing was measured", at.left + at.plot / 2, at.height / 2, "center");
      this.drawSelection();
    }

    say(text, x, y, align, colour) {
      this.g.fillStyle = colour || colours.quiet;
      this.g.textAlign = align;
      this.g.fillText(text, x, y);
    }

    /*
     * How many bins one column of the picture is, and how many buckets one row: at least two points wide,
     * and of few events wider, so that there is something to compare.
     */
    measureCells() {
      const { at, scale } = this, events = this.events ?? Number(sizesOf(this.row).count);
      const columns = Math.min(Math.floor(at.plot / 2), Math.max(48, Math.ceil(events / 24)));
      const rows = Math.min((at.height - at.top) / 4, Math.max(32, events / 64));
      this.across = Math.max(1, Math.ceil(bins.count / Math.max(1, columns)));
      this.tall = Math.max(1, Math.ceil((scale.high + 1 - scale.low) / rows));
    }

    /* The counts of the cells that are drawn, by their place. */
    cellsOf(row) {
      const { scale, across, tall } = this, cells = new Map();
      for (const column of row.bars) {
        for (const [bucket, n] of column.cells) {
          const key = Math.floor(column.bin / across) * 4096 + Math.floor((bucket - scale.low) / tall);
          cells.set(key, (cells.get(key) || 0) + n);
        }
      }
      return cells;
    }

    /* The count that has the strongest colour. */
    strongest() {
      return [this.row, ...this.others || []].reduce((most, row) => [...this.cellsOf(row).values()].reduce((a, b) => Math.max(a, Math.abs(b)), most), 1);
    }

    drawHeat() {
      const { g, at, scale, across, tall } = this, most = this.strongest();
      for (const [key, n] of this.cellsOf(this.row)) {
        const bin = Math.floor(key / 4096) * across, bucket = scale.low + key % 4096 * tall;
        const left = this.x(bin), right = this.x(bin + across);
        const top = Math.max(at.top, this.y(bucket + tall)), bottom = this.y(bucket);
        this.colour(n, Math.log1p(Math.abs(n)) / Math.log1p(most));
        g.fillRect(left, top, Math.max(right - left - (right - left > 5 ? 0.5 : -0.3), 2), Math.max(bottom - top - 0.5, 2));
        g.globalAlpha = 1;
      }
    }

    colour(n, strength) {
      this.g.fillStyle = colours.heat[Math.round(63 * strength)];
    }

    drawTimes() {
      const { g, at } = this;
      const { step, found } = ticks(spanNs, Math.max(2, at.plot / 85));
      g.strokeStyle = colours.line;
      for (const t of found) {
        if (byRun && t >= spanNs) continue; // there is no run behind the last one
        const x = Math.round(this.x(t / bins.width_ns)) + 0.5;
        g.globalAlpha = 0.6;
        g.beginPath();
        g.moveTo(x, at.top);
        g.lineTo(x, at.height);
        g.moveTo(x, at.rateTop);
        g.lineTo(x, at.rateTop + at.rateHeight + 4);
        g.stroke();
        g.globalAlpha = 1;
        this.say(timeText(t, step), x, at.rateTop + at.rateHeight + 13, t === 0 ? "left" : "center");
      }
    }

    /* Grey stripes with a word: what is not known there is not nothing. */
    stripe(first, last, word) {
      const { g, at } = this, left = this.x(first), width = Math.max(2, this.x(last) - left);
      g.save();
      g.beginPath();
      g.rect(left, at.top, width, at.height - at.top);
      g.clip();
      g.globalAlpha = 0.28;
      g.fillStyle = colours.lost;
      g.fillRect(left, at.top, width, at.height);
      g.globalAlpha = 0.75;
      g.strokeStyle = colours.lost;
      g.beginPath();
      for (let x = left - at.height; x < left + width; x += 8) {
        g.moveTo(x, at.height);
        g.lineTo(x + at.height, 0);
      }
      g.stroke();
      g.restore();
      const room = g.measureText(word).width + 8, middle = left + width / 2;
      const x = Math.min(Math.max(middle, at.left + room / 2), at.left + at.plot - room / 2);
      g.fillStyle = colours.back;
      g.globalAlpha = 0.85;
      g.fillRect(x - room / 2, at.top + 2, room, 16);
      g.globalAlpha = 1;
      this.say(word, x, at.top + 10, "center", colours.front);
    }

    drawGone() {
      const runs = [];
      for (const [bin, events] of bins.losses) {
        const last = runs[runs.length - 1];
        if (last && last.to === bin) {
          last.to = bin + 1;
          last.events += Number(events);
        } else runs.push({ from: bin, to: bin + 1, events: Number(events) });
      }
      let until = -1;
      for (const run of runs) {
        const word = run.events ? `${count(run.events)} lost` : "lost";
        const crowded = this.x(run.from) < until;
        this.stripe(run.from, run.to, crowded ? "" : word);
        if (!crowded) until = this.x(run.from) + this.g.measureText(word).width + 20;
      }
      const off = disabledAt(this.row);
      if (off !== null) this.stripe(Math.min(off / bins.width_ns, shownBins), shownBins, "disabled");
    }

    drawLines() {
      const { g, at } = this, row = this.row, shift = shiftOf(row);
      const across = Math.max(this.across, Math.ceil(bins.count / (at.plot / 3)));
      const regions = [];
      for (let first = 0; first < bins.count; first += across) {
        const region = regionOf(row, first, first + across - 1, 0, Infinity);
        if (region.count) regions.push([first + across / 2, region]);
      }
      for (const line of LINES) {
        if (!switched[line.key]) continue;
        g.strokeStyle = g.fillStyle = colours[line.key];
        g.lineWidth = line.key === "max" ? 1 : 1.75;
        g.setLineDash(line.dash);
        g.beginPath();
        let before = -Infinity;
        for (const [middle, region] of regions) {
          const x = this.x(middle);
          const y = this.y(Math.min(bucketAt(percentile(region, line.p), shift), this.scale.high + 1));
          if (middle - before > 3 * across) g.moveTo(x - 1.5, y); // no line over what was not
          else g.lineTo(x, y);
          if (middle - before > 3 * across) g.lineTo(x + 1.5, y);
          before = middle;
        }
        g.stroke();
        g.setLineDash([]);
        g.lineWidth = 1;
      }
    }

    drawSizes() {
      const { at, scale } = this, shift = shiftOf(this.row);
      if (scale.empty) return;
      let last = Infinity;
      for (let decade = 1; decade < 1e19; decade *= 10) {
        for (const value of [decade, 2 * decade, 5 * decade]) {
          const bucket = bucketAt(value, shift);
          if (bucket < scale.low || bucket > scale.high + 1) continue;
          const y = this.y(bucket), few = (scale.high - scale.low) * 2 ** shift < 5 * OCTAVE;
          if ((value !== decade && !few) || last - y < 15) continue;
          last = y;
          this.g.strokeStyle = colours.line;
          this.g.globalAlpha = 0.7;
          this.g.beginPath();
          this.g.moveTo(at.left - 4, y);
          this.g.lineTo(at.left + at.plot, y);
          this.g.stroke();
          this.g.globalAlpha = 1;
          this.say(axisText(value), at.left - 8, y, "right");
        }
      }
    }

    drawHistogram() {
      const { g, at, scale } = this, row = this.row, shift = shiftOf(row);
      const region = regionOf(row, 0, Infinity, 0, Infinity);
      const tall = Math.max(1, Math.ceil((scale.high + 1 - scale.low) / ((at.height - at.top) / 4)));
      const bars = new Map();
      for (const [bucket, n] of region.cells) {
        const bar = Math.floor((bucket - scale.low) / tall);
        bars.set(bar, (bars.get(bar) || 0) + n);
      }
      const most = Math.max(1, ...bars.values());
      g.fillStyle = colours.warm;
      for (const [bar, n] of bars) {
        const bottom = this.y(scale.low + bar * tall), top = Math.max(at.top, this.y(scale.low + (bar + 1) * tall));
        g.fillRect(at.side, top + 0.5, Math.max(1, n / most * at.sideWidth), Math.max(1, bottom - top - 1));
      }
      if (!region.count) return;
      const sizes = sizesOf(row);
      const labels = [];
      for (const line of LINES) {
        const y = this.y(Math.min(bucketAt(Number(sizes[line.key]), shift), scale.high + 1));
        labels.unshift({ line, y });
        g.strokeStyle = colours[line.key];
        g.setLineDash(line.dash);
        g.beginPath();
        g.moveTo(at.side, y);
        g.lineTo(at.side + at.sideWidth, y);
        g.stroke();
        g.setLineDash([]);
      }
      /* from the top down, none over another; and from the bottom up, where that would leave the picture */
      let free = at.top + 6;
      for (const label of labels) {
        label.at = Math.max(label.y - 7 < at.top + 6 ? label.y + 8 : label.y - 7, free);
        free = label.at + 12;
      }
      free = at.height - 4;
      for (const label of labels.reverse()) {
        label.at = Math.min(label.at, free);
        free = label.at - 12;
        const { key } = label.line;
        this.say(at.sideWidth > 100 ? `${key} ${duration(sizes[key])}` : key, at.side + at.sideWidth, label.at, "right", colours[key]);
      }
    }

    /* Below the map, on its scale of time: of all the time of the spans that ended then, how much was what. */
    drawStates() {
      const { g, at, across } = this, row = this.row;
      if (!at.statesHeight) return;
      const parts = new Map();
      for (const [bin, ...ns] of row.states_over_time || []) {
        const key = Math.floor(bin / across), sums = parts.get(key) || STATES.map(() => 0);
        parts.set(key, sums.map((sum, i) => sum + Number(ns[i])));
      }
      g.fillStyle = colours.plot;
      g.fillRect(at.left, at.statesTop, at.plot, at.statesHeight);
      for (const [key, sums] of parts) {
        const left = this.x(key * across), width = Math.max(1, this.x((key + 1) * across) - left);
        const whole = sums.reduce((sum, ns) => sum + ns, 0);
        let bottom = at.statesTop + at.statesHeight;
        STATES.forEach(([name], i) => {
          const height = whole ? sums[i] / whole * at.statesHeight : 0;
          g.fillStyle = colours[name];
          g.fillRect(left, bottom - height, width, height);
          bottom -= height;
        });
      }
      this.say("100 %", at.left - 8, at.statesTop + 6, "right");
      this.say("0", at.left - 8, at.statesTop + at.statesHeight - 4, "right");
      this.say("where the time went", at.left + at.plot - 4, at.statesTop - 8, "right");
      const step = at.statesHeight / STATES.length;
      STATES.forEach(([name, word], i) => {
        const y = at.statesTop + (STATES.length - 1 - i + 0.5) * step;
        g.fillStyle = colours[name];
        g.fillRect(at.side, y - 4, 8, 8);
        this.say(at.sideWidth > 100 ? `${word} ${percent(stateSum(row, name), stateTotal(row))}` : word.slice(0, 7), at.side + 12, y, "left");
      });
    }

    drawRate() {
      const { g, at, across } = this, row = this.row;
      const sums = new Map();
      for (const column of row.bars) {
        const key = Math.floor(column.bin / across);
        sums.set(key, (sums.get(key) || 0) + hitsOf(row, column));
      }
      const most = Math.max(1, ...sums.values());
      g.fillStyle = colours.plot;
      g.fillRect(at.left, at.rateTop, at.plot, at.rateHeight);
      g.fillStyle = colours.warm;
      for (const [key, n] of sums) {
        const left = this.x(key * across), right = this.x((key + 1) * across), height = n / most * (at.rateHeight - 2);
        g.fillRect(left, at.rateTop + at.rateHeight - height, Math.max(1, right - left - 0.2), height);
      }
      const seconds = Math.min(across, shownBins) * bins.width_ns / 1e9;
      this.say(byRun ? count(most) : sums.size && (compared || Number(about.elapsed_ns)) ? rate(most / seconds) : "", at.left - 8, at.rateTop + 6, "right");
      this.say("0", at.left - 8, at.rateTop + at.rateHeight - 4, "right");
      this.say((isSpan(row) ? "spans a " : "hits a ") + (byRun ? "run" : "second"), at.left + at.plot - 4, at.rateTop - 8, "right");
    }

    drawSelection() {
      const { g } = this, s = selection && selection.panel === this ? selection : null;
      const c = this.cursor;
      if (!s && document.activeElement !== this.box) return;
      const box = s || { first: c.bin, last: c.bin, low: c.bucket, high: c.bucket };
      const left = this.x(box.first), right = Math.max(this.x(box.last + 1), left + 3);
      const top = Math.max(this.at.top, this.y(box.high + 1)), bottom = Math.min(this.at.height, Math.max(this.y(box.low), top + 3));
      g.save();
      g.strokeStyle = colours.mark;
      g.fillStyle = colours.mark;
      g.globalAlpha = 0.1;
      g.fillRect(left, top, right - left, bottom - top);
      g.globalAlpha = 1;
      g.lineWidth = 1.5;
      g.strokeRect(left, top, right - left, bottom - top);
      g.restore();
    }

    // what is under a point of the page

    where(event) {
      const box = this.canvas.getBoundingClientRect();
      const x = (event.clientX - box.left - this.at.left) / this.at.plot;
      const y = (event.clientY - box.top - this.at.top) / (this.at.height - this.at.top);
      const { low, high } = this.scale;
      return {
        inside: x >= 0 && x <= 1 && y >= 0 && y <= 1,
        bin: Math.min(Math.max(Math.floor(x * shownBins), 0), bins.count - 1),
        bucket: Math.min(Math.max(low + Math.floor((1 - y) * (high + 1 - low)), low), high),
      };
    }

    select(from, to) {
      selection = {
        panel: this,
        first: Math.min(from.bin, to.bin), last: Math.max(from.bin, to.bin),
        low: Math.min(from.bucket, to.bucket), high: Math.max(from.bucket, to.bucket),
      };
      for (const panel of panels) panel.draw();
      showRegion();
    }

    listen() {
      const box = this.box;
      let from = null;
      box.addEventListener("pointerdown", (event) => {
        const where = this.where(event);
        if (event.button !== 0 || !where.inside) return;
        from = where;
        box.setPointerCapture(event.pointerId);
      });
      box.addEventListener("pointermove", (event) => {
        const where = this.where(event);
        if (from && (where.bin !== from.bin || where.bucket !== from.bucket || selection)) this.select(from, where);
        else if (where.inside) at("readout").textContent = this.readout(where);
      });
      box.addEventListener("pointerup", (event) => {
        if (from) this.select(from, this.where(event));
        from = null;
      });
      box.addEventListener("pointercancel", () => { from = null; });
      box.addEventListener("pointerleave", () => { if (!from) at("readout").textContent = ""; });
      box.addEventListener("focus", () => this.draw());
      box.addEventListener("blur", () => this.draw());
      box.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
      const step = event.ctrlKey ? 10 : 1, c = this.cursor;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step], Home: [-bins.count, 0], End: [bins.count, 0] };
      if (event.key === "Escape") {
        clearSelection();
        return;
      }
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      const before = { ...c };
      c.bin = Math.min(Math.max(c.bin + move[0], 0), bins.count - 1);
      c.bucket = Math.min(Math.max(c.bucket + move[1], this.scale.low), this.scale.high);
      if (event.shiftKey) {
        if (!this.anchor) this.anchor = before;
        this.select(this.anchor, c);
      } else {
        this.anchor = null;
        if (selection) clearSelection();
        this.draw();
        at("readout").textContent = this.readout(c);
      }
    }

    readout(where) {
      const row = this.row, shift = shiftOf(row);
      const column = row.bars.find((c) => c.bin === where.bin);
      const cell = column && column.cells.find((c) => c[0] === where.bucket);
      const ns = where.bin * bins.width_ns;
      const lost = bins.losses.find((l) => l[0] === where.bin);
      const parts = [`${timeText(ns, bins.width_ns)}${wall(ns) && ` (${wall(ns)})`}`];
      parts.push(`${duration(lowOf(where.bucket, shift))} to ${duration(highOf(where.bucket, shift))}: ${count(cell ? cell[1] : 0)}`);
      if (column && column.cells.length) {
        const region = regionOf(row, where.bin, where.bin, 0, Infinity);
        parts.push(`then ${count(region.count)} in all, ${LINES.map((l) => `${l.key} ${duration(percentile(region, l.p))}`).join(", ")}`);
      }
      if (column && column.others && isSpan(row)) parts.push(`${count(column.others)} not measured`);
      const off = disabledAt(row);
      if (off !== null && ns + bins.width_ns > off) parts.push("disabled");
      if (lost) parts.push(Number(lost[1]) ? `${count(lost[1])} events lost` : "events lost");
      return parts.join(" · ");
    }
  }

  /* A side of a difference. other: the other side, which has the same scales. */
  class Side extends Panel {
    constructor(row, other, scale, word) {
      super([row], row, scale, false);
      this.word = word;
      this.others = [other];
      this.events = Math.max(Number(sizesOf(row).count), Number(sizesOf(other).count));
      this.box.setAttribute("aria-label", `${word}: ${this.describe()}`);
      this.figure.prepend(element("figcaption", word));
    }
  }

  /* By how much the side after has more or fewer of something than the side before. */
  class Difference extends Panel {
    constructor(row, events, scale) {
      super([row], row, scale, false);
      this.events = events;
      this.box.removeAttribute("tabindex");
      this.box.removeAttribute("aria-roledescription");
      this.box.setAttribute("role", "img");
      this.figure.prepend(element("figcaption", "Difference: ", element("span", { className: "more" }, "more after"), ", ", element("span", { className: "fewer" }, "fewer after")));
    }

    describe() {
      return `${nameOf(this.row)}: where there are more and where there are fewer after than before. The table has the numbers.`;
    }

    listen() {}

    drawLines() {}

    colour(n, strength) {
      this.g.fillStyle = n > 0 ? colours.more : colours.fewer;
      this.g.globalAlpha = n ? 0.12 + 0.88 * strength : 0;
    }

    drawHistogram() {
      const { g, at, scale, tall } = this, bars = new Map();
      for (const [key, n] of this.cellsOf(this.row)) bars.set(key % 4096, (bars.get(key % 4096) || 0) + n);
      const most = Math.max(1, ...[...bars.values()].map(Math.abs)), middle = at.side + at.sideWidth / 2;
      for (const [bar, n] of bars) {
        const bottom = this.y(scale.low + bar * tall), top = Math.max(at.top, this.y(scale.low + (bar + 1) * tall));
        const width = n / most * at.sideWidth / 2;
        g.fillStyle = n > 0 ? colours.more : colours.fewer;
        g.fillRect(Math.min(middle, middle + width), top + 0.5, Math.abs(width), Math.max(1, bottom - top - 1));
      }
    }

    drawRate() {
      const { g, at, across } = this, sums = new Map();
      for (const [key, n] of this.cellsOf(this.row)) sums.set(Math.floor(key / 4096), (sums.get(Math.floor(key / 4096)) || 0) + n);
      const most = Math.max(0, ...[...sums.values()].map(Math.abs)), middle = at.rateTop + at.rateHeight / 2;
      g.fillStyle = colours.plot;
      g.fillRect(at.left, at.rateTop, at.plot, at.rateHeight);
      for (const [key, n] of sums) {
        const left = this.x(key * across), right = this.x((key + 1) * across), height = most ? n / most * (at.rateHeight / 2 - 1) : 0;
        g.fillStyle = n > 0 ? colours.more : colours.fewer;
        g.fillRect(left, Math.min(middle, middle - height), Math.max(1, right - left - 0.2), Math.abs(height));
      }
      this.say(most ? `±${count(most)}` : "0", at.left - 8, at.rateTop + 6, "right");
    }
  }

  const axisText = (value) => duration(value);

  /* When the row's probe was disabled, or one of a span's; in ns since the beginning; null: it was not. */
  function disabledAt(row) {
    if (!isSpan(row)) return row.disabled_ns === undefined ? null : Number(row.disabled_ns);
    const off = data.rows.filter((other) => !isSpan(other) && other.disabled_ns !== undefined && (row.probes || []).includes(other.probe));
    return off.length ? Math.min(...off.map((other) => Number(other.disabled_ns))) : null;
  }

  // ---- what is selected ------------------------------------------------------------------

  function clearSelection() {
    selection = null;
    at("region").hidden = true;
    for (const panel of panels) panel.draw();
  }

  const fact = (name, value, raw) => element("div", element("dt", name), element("dd", raw === undefined ? value : element("data", { value: String(raw), "data-key": name }, value)));

  function showRegion() {
    const { panel, first, last, low, high } = selection, row = panel.row, shift = shiftOf(row);
    const region = regionOf(row, first, last, low, high);
    const from = first * bins.width_ns, to = Math.min((last + 1) * bins.width_ns, spanNs);
    const body = at("region-body"), facts = element("dl", { className: "facts" });
    facts.append(fact("count", count(region.count), region.count));
    if (region.count) {
      facts.append(fact("min", duration(region.min), region.min));
      for (const [key, p] of STATISTICS) facts.append(fact(key, duration(percentile(region, p)), percentile(region, p)));
      facts.append(fact("max", duration(region.max), region.max));
    }
    if (hasStates(row)) {
      const ns = statesOf(row, first, last), whole = ns.reduce((sum, n) => sum + n, 0);
      STATES.forEach(([key, word], i) => { if (ns[i]) facts.append(fact(word.toLowerCase(), percent(ns[i], whole), ns[i])); });
    }
    const where = element("p", { className: "quiet" },
      `${panel.word ? `${panel.word}, ` : ""}${row.group === undefined ? "" : `${row.group}, `}${timeText(from, bins.width_ns)} to ${timeText(byRun ? to - 1 : to, bins.width_ns)}, ` +
      `${duration(lowOf(low, shift))} to ${duration(highOf(high, shift))}` +
      (shift ? `; percentiles to ${Math.round(50 * 2 ** shift / OCTAVE)} %` : ""));
    Object.assign(where.dataset, { firstBin: first, lastBin: last, fromNs: from, untilNs: (last + 1) * bins.width_ns, lowNs: lowOf(low, shift), highNs: highOf(high, shift) });
    body.replaceChildren(where, facts);
    if (isSpan(row) && !compared) {
      const slow = (row.slowest || []).filter((span) => {
        const bin = Math.floor(Number(span.end_ns) / bins.width_ns), bucket = bucketOf(Number(span.ns), shift);
        return bin >= first && bin <= last && bucket >= low && bucket <= high;
      });
      body.append(slow.length ? slowTable(slow) : element("p", { className: "quiet" },
        region.count ? "None of the spans of this part was among the slowest that are kept whole." : "No span is here."));
    }
    at("region").hidden = false;
    at("readout").textContent = `Selected: ${count(region.count)}${region.count ? `, p50 ${duration(percentile(region, 0.5))}, p99 ${duration(percentile(region, 0.99))}` : ""}`;
  }

  /* What all spans that ended in these bins did, in ns by state. */
  function statesOf(row, first, last) {
    const sums = STATES.map(() => 0);
    for (const [bin, ...ns] of row.states_over_time || [])
      if (bin >= first && bin <= last) ns.forEach((n, i) => { sums[i] += Number(n); });
    return sums;
  }

  const stateText = (states) => states ? STATES.filter(([key]) => Number(states[key])).map(([key, word]) => `${word.toLowerCase()} ${duration(states[key])}`).join("\n") : "not known";

  const argText = (value) => value === null ? "NULL" : typeof value === "string" ? JSON.stringify(value) : Array.isArray(value) ? `{${value.join(", ")}}` : String(value);
  const argsText = (hit) => hit && hit.args ? Object.entries(hit.args).map(([name, value]) => `${name}=${argText(value)}`).join("\n") : "";

  /* A number is an element of its own, which the style sheet keeps on one line. */
  function argsCell(column, hit) {
    const cell = element("td", { className: "text mono", "data-column": column });
    Object.entries((hit && hit.args) || {}).forEach(([name, value], i) => {
      const text = `${name}=${argText(value)}`;
      cell.append(i ? "\n" : "", typeof value === "number" ? element("span", text) : text);
    });
    return cell;
  }

  function threadText(hit) {
    if (!hit) return "";
    return `${hit.comm || ""} ${hit.tid}${hit.pid && hit.pid !== hit.tid ? ` (of ${hit.pid})` : ""}`.trim();
  }

  function slowTable(spans) {
    const hasArgs = spans.some((s) => argsText(s.start) || argsText(s.end));
    const hasParts = spans.some((s) => s.states_ns);
    const head = ["Took", "Ended at", "Thread", "CPU"].concat(hasParts ? ["States"] : [], hasArgs ? ["Start", "End"] : []);
    const table = element("table", { className: "slow" }, element("caption", { className: "hidden" }, "The slowest spans of the selection"),
      element("thead", element("tr", ...head.map((name) => element("th", { scope: "col", className: name === "Took" ? "number" : "" }, name)))));
    const body = element("tbody");
    for (const span of spans.slice(0, 100)) {
      const cpu = span.start && span.start.cpu !== span.end.cpu ? `${span.start.cpu} → ${span.end.cpu}` : String(span.end.cpu);
      const moved = span.start && span.start.tid !== span.end.tid;
      const line = element("tr",
        element("td", { className: "number" }, element("data", { value: String(span.ns) }, duration(span.ns))),
        element("td", { className: "number", "data-column": "at", title: wall(Number(span.end_ns)) }, timeText(Number(span.end_ns), 1e3)),
        element("td", moved ? `${threadText(span.start)} → ${threadText(span.end)}` : threadText(span.end)),
        element("td", { "data-column": "CPU" }, cpu));
      if (hasParts) line.append(element("td", { className: "text states", "data-column": "States" }, stateText(span.states_ns)));
      if (hasArgs) line.append(argsCell("Start", span.start), argsCell("End", span.end));
      body.append(line);
    }
    table.append(body);
    return element("div", { className: "scroll" }, table);
  }

  // ---- a row's picture -------------------------------------------------------------------

  function showRow(row, all) {
    shown = row;
    clearSelection();
    const rows = data.rows.filter((other) => other.type === row.type && nameOf(other) === nameOf(row));
    /* where some had to be left out, those that have a picture come first */
    const few = all ? rows : [...rows].sort((a, b) => !a.bars.length - !b.bars.length).slice(0, MOST_PANELS);
    if (!few.includes(row)) few.unshift(row);
    const scale = scaleOf(few);
    const named = row.group !== undefined;
    panels = few.map((one) => new Panel(rows, one, scale, named));
    at("shown").textContent = `${nameOf(row)}: ${whatOf(row)}`;
    const notes = [];
    if (row.key && row.key !== "tid") notes.push(`paired by ${row.key}`);
    const missing = notMeasured(row);
    if (missing) notes.push(`${count(missing)} not measured (${data.unmeasured.filter((k) => Number(row[k])).map((k) => `${count(row[k])} ${k.replace("_", " ")}`).join(", ")})`);
    const cost = row.probe_cost_ns;
    if (cost && Number(cost.count)) notes.push(row.net ? `without the probe overhead, ${duration(cost.mean)} of each span` : `probe overhead: ${duration(cost.mean)} of each span`);
    if (Number(row.clamped)) notes.push(`${count(row.clamped)} count as 0, since the probes cost more`);
    const off = disabledAt(row);
    if (off !== null) notes.push(`disabled after ${duration(off)}: what came later is not known, and is grey`);
    else if (row.state && row.state !== "hit") notes.push(row.state.replace(/-/g, " "));
    at("note").textContent = notes.join(" · ");
    at("panels").className = panels.length > 1 ? "many" : "";
    at("panels").replaceChildren(...panels.map((panel) => panel.figure));
    if (few.length < rows.length) at("panels").append(element("button", { type: "button", onclick: () => showRow(row, true) }, `Show all ${rows.length} groups`));
    for (const panel of panels) panel.draw();
    showOverTime(row);
    showStates(row);
    showFlame(row);
    showArguments(row);
    for (const line of document.querySelectorAll("#rows tbody tr")) line.setAttribute("aria-current", String(line.row === row));
  }

  // ---- a difference ----------------------------------------------------------------------

  /* Of the columns that both sides have, what is there after and was not before; below 0: what is there no more. */
  function lessThan(before, after) {
    const last = Math.min(compared.before.count, compared.after.count), columns = new Map();
    for (const [bars, sign] of [[before, -1], [after, 1]]) {
      for (const { bin, cells } of bars) {
        if (bin >= last) continue;
        const column = columns.get(bin) || new Map();
        columns.set(bin, column);
        for (const [bucket, n] of cells) column.set(bucket, (column.get(bucket) || 0) + sign * n);
      }
    }
    return [...columns].map(([bin, cells]) => ({ bin, others: 0, min: 0, max: 0, cells: [...cells] }));
  }

  function showCompared(row) {
    const [before, after] = ["before", "after"].map((side) => ({
      ...row, ...row[side],
      bars: unpack(row[side]).map((column) => ({ ...column, bin: column.bin - compared[side].first })),
    }));
    shown = row;
    clearSelection();
    const scale = scaleOf([before, after]), sides = [new Side(before, after, scale, "Before"), new Side(after, before, scale, "After")];
    panels = [...sides, new Difference({ ...after, bars: lessThan(before.bars, after.bars) }, sides[0].events, scale)];
    at("shown").textContent = `${nameOf(row)}${row.group === undefined ? "" : ` ${row.group || "(empty)"}`}: ${whatOf(row)}`;
    at("note").textContent = (byRun ? "A column is a run" : "A column is a slice of time") + (compared.units_in_bin > 1 ? `, or ${compared.units_in_bin} of them` : "") +
      "; the difference is that of the columns with the same number.";
    at("panels").className = "sides";
    at("panels").replaceChildren(...panels.map((panel) => panel.figure));
    for (const panel of panels) panel.draw();
    for (const body of document.querySelectorAll("#diff tbody")) body.setAttribute("aria-current", String(body.dataset.row === String(row.row)));
  }

  /* The names of the table, which is in the page, become buttons that show a picture. */
  function showDifference() {
    document.title = `nopwatch: ${data.rows.length ? `${nameOf(data.rows[0])} ` : ""}before and after`;
    at("title").textContent = document.title;
    at("warnings").textContent = data.left_out ? "There are more pictures than this page holds." : "";
    for (const row of data.rows) {
      const name = document.querySelector(`#diff tbody[data-row="${Number(row.row)}"] th span`);
      if (name) name.replaceChildren(element("button", { type: "button", "aria-label": nameOf(row), onclick: () => { showCompared(row); at("shown").scrollIntoView({ block: "nearest" }); } }, ...breakable(nameOf(row))));
    }
    if (data.rows.length) showCompared(data.rows[0]);
    else at("shown").textContent = "No row has a picture on both sides";
  }

  /* What a screen reader, or a paper, has instead of the picture. */
  function showOverTime(row) {
    const off = disabledAt(row);
    const known = hasStates(row) ? STATES.filter(([key]) => stateSum(row, key)) : [];
    const shares = (first, last) => {
      const ns = statesOf(row, first, last), whole = ns.reduce((sum, n) => sum + n, 0);
      return known.map((state) => element("td", { className: "number" }, percent(ns[STATES.indexOf(state)], whole)));
    };
    const parts = Math.min(30, bins.count), step = Math.ceil(bins.count / parts), body = element("tbody");
    for (let first = 0; first < bins.count; first += step) {
      const region = regionOf(row, first, first + step - 1, 0, Infinity);
      const lost = bins.losses.filter((l) => l[0] >= first && l[0] < first + step);
      const events = lost.reduce((sum, l) => sum + Number(l[1]), 0);
      body.append(element("tr", element("td", { className: "number" }, timeText(first * bins.width_ns, bins.width_ns)),
        element("td", { className: "number" }, count(region.count)),
        ...LINES.map((line) => element("td", { className: "number" }, region.count ? duration(percentile(region, line.p)) : "")),
        ...shares(first, first + step - 1),
        element("td", { className: "number" }, [lost.length ? events ? count(events) : "some" : "",
          off !== null && (first + step) * bins.width_ns > off ? "disabled" : ""].filter(Boolean).join(", "))));
    }
    const head = ["From", "Count", ...LINES.map((l) => l.key), ...known.map(([, word]) => word), "Lost"];
    at("over-time").querySelector(".scroll").replaceChildren(element("table",
      element("thead", element("tr", ...head.map((name) => element("th", { scope: "col", className: "number" }, name)))), body));
  }

  /* A distribution a state, and the share that it has of all time. */
  function showStates(row) {
    at("states").hidden = !hasStates(row);
    const keys = ["mean", "p50", "p90", "p99", "max"];
    const line = ([key, word]) => element("tr", element("td", element("span", { className: `swatch ${key}` }), word),
      element("td", { className: "number" }, percent(stateSum(row, key), stateTotal(row))),
      element("td", { className: "number" }, element("data", { value: String(row.states_ns[key].sum), "data-state": key }, duration(row.states_ns[key].sum))),
      ...keys.map((k) => element("td", { className: "number" }, duration(row.states_ns[key][k]))));
    at("states").querySelector(".scroll").replaceChildren(...(hasStates(row) ? [element("table",
      element("thead", element("tr", element("th", { scope: "col" }, "State"), ...["Share", "Total", ...keys].map((key) => element("th", { scope: "col", className: "number" }, key)))),
      element("tbody", ...STATES.filter(([key]) => stateSum(row, key)).map(line)))] : []));
    if (Number(row.unsplit)) at("states").querySelector(".scroll").append(element("p", { className: "quiet" }, `Of ${count(row.unsplit)} more spans it is not known.`));
  }

  let flames = [];

  /* The stacks of this row; those that are of no row have their own place. */
  function showFlame(row) {
    const own = (data.flame || []).filter((flame) => flame.of === nameOf(row) && flame.stacks.length);
    const others = (data.flame || []).filter((flame) => flame.stacks.length && !data.rows.some((other) => nameOf(other) === flame.of));
    const made = own.map((flame) => flameGraph(flame, "Stacks", element));
    const rest = others.map((flame) => flameGraph(flame, flame.of, element));
    at("flame").hidden = !made.length;
    at("flame").replaceChildren(...made.map((flame) => flame.box));
    at("flames").hidden = !rest.length;
    at("flames").replaceChildren(...rest.map((flame) => flame.box));
    flames = [...made, ...rest];
    for (const flame of flames) flame.draw();
  }

  /* The counts of an argument in equal steps, with bars. */
  function linearTable(name, linear) {
    const rows = [
      ...(Number(linear.below) ? [[`below ${linear.min}`, linear.below]] : []),
      ...linear.buckets.map(([low, high, times]) => [low === high ? `${low}` : `${low} to ${high}`, times]),
      ...(Number(linear.above) ? [[`from ${linear.max} on`, linear.above]] : []),
    ];
    const most = Math.max(...rows.map(([, times]) => Number(times)), 1);
    const bar = (times) => "█".repeat(Math.round(30 * Number(times) / most)) || "▏";
    return element("table",
      element("thead", element("tr", element("th", { scope: "col" }, name), element("th", { scope: "col", className: "number" }, "count"), element("th", { scope: "col" }, ""))),
      element("tbody", ...rows.map(([label, times]) => element("tr", element("td", label), element("td", { className: "number" }, count(times)),
        element("td", { "aria-hidden": "true" }, bar(times))))));
  }

  function showArguments(row) {
    const args = Object.entries(row.args || {});
    at("arguments").hidden = !args.length;
    const keys = ["count", "min", "mean", "p50", "p90", "p99", "max"];
    at("arguments").querySelector(".scroll").replaceChildren(element("table",
      element("thead", element("tr", element("th", { scope: "col" }, "Argument"), ...keys.map((key) => element("th", { scope: "col", className: "number" }, key)))),
      element("tbody", ...args.map(([name, sizes]) => element("tr", element("td", name),
        ...keys.map((key) => element("td", { className: "number" }, key === "mean" ? three(Number(sizes[key])) : count(sizes[key]))))))),
      ...args.filter(([, sizes]) => sizes.linear).map(([name, sizes]) => linearTable(name, sizes.linear)));
  }

  // ---- the table -------------------------------------------------------------------------

  const sized = (key) => (row) => Number(sizesOf(row).count) ? Number(sizesOf(row)[key]) : NaN;
  const COLUMNS = [
    { name: "Name", value: nameOf, text: (row) => nameOf(row) },
    { name: "Group", value: (row) => row.group || "", text: (row) => row.group ?? "", only: () => about.by },
    { name: "What", value: (row) => row.type, text: (row) => isSpan(row) ? "span" : "gaps of a probe" },
    { name: "Count", value: (row) => Number(isSpan(row) ? row.count : row.hits), text: (row) => count(isSpan(row) ? row.count : row.hits) + (row.at_least ? "+" : "") },
    { name: "Rate", value: (row) => rateOf(row), text: (row) => rate(rateOf(row)) },
    { name: "Total", value: sized("sum"), text: (row) => duration(sized("sum")(row)) },
    ...[["Min", "min"], ["Mean", "mean"], ["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["p99.9", "p999"], ["Max", "max"]]
      .map(([name, key]) => ({ name, value: sized(key), text: (row) => duration(sized(key)(row)), key })),
    ...STATES.map(([key, word]) => ({ name: word, value: (row) => hasStates(row) ? stateSum(row, key) / stateTotal(row) : NaN,
      text: (row) => hasStates(row) ? percent(stateSum(row, key), stateTotal(row)) : "", only: () => data.rows.some((row) => stateSum(row, key)) })),
    { name: "Not measured", value: notMeasured, text: (row) => notMeasured(row) ? count(notMeasured(row)) : "", only: () => data.rows.some(notMeasured) },
    { name: "State", value: (row) => row.state || "", text: (row) => row.state && row.state !== "hit" ? row.state : "", only: () => data.rows.some((row) => row.state && row.state !== "hit") },
  ].filter((column) => !column.only || column.only());
  let sorted = { column: null, up: false };

  function rateOf(row) {
    return Number(about.elapsed_ns) ? Number(isSpan(row) ? row.count : row.hits) * 1e9 / Number(about.elapsed_ns) : 0;
  }

  function compare(a, b) {
    const x = sorted.column.value(a), y = sorted.column.value(b);
    if (typeof x === "string") return (x < y ? -1 : x > y ? 1 : 0) * (sorted.up ? 1 : -1);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // what is empty comes last
    return (x - y) * (sorted.up ? 1 : -1);
  }

  function showTable() {
    const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = data.rows.filter((row) => {
      const text = COLUMNS.slice(0, 3).map((column) => column.text(row)).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (sorted.column) found.sort(compare);
    at("matches").textContent = words.length ? `${found.length} of ${data.rows.length}` : count(data.rows.length);
    const body = element("tbody", ...found.map((row) => {
      const line = element("tr", { "aria-current": String(row === shown) }, ...COLUMNS.map((column, i) => {
        if (i === 0) return element("td", element("button", { type: "button", "aria-label": column.text(row), onclick: () => { showRow(row); at("shown").scrollIntoView({ block: "nearest" }); } }, ...breakable(column.text(row))));
        const text = typeof column.value(row) === "string";
        const cell = element("td", { className: text ? "" : "number" }, column.text(row));
        if (column.key && Number(sizesOf(row).count)) cell.dataset.value = String(sizesOf(row)[column.key]);
        cell.dataset.column = column.name;
        return cell;
      }));
      line.row = row;
      return line;
    }));
    if (!found.length) body.append(element("tr", element("td", { colSpan: COLUMNS.length, className: "quiet" }, data.rows.length ? "Nothing has all of these words." : "There is nothing.")));
    for (const old of at("rows").querySelectorAll("tbody")) old.remove();
    at("rows").append(body);
  }

  /* A name that may go on in the next line behind its colons and double underscores. */
  const breakable = (name) => name.split(/(?<=:|__)(?=[^:_])/).flatMap((part, i) => i ? [element("wbr"), part] : [part]);

  function makeHead() {
    const line = element("tr");
    for (const column of COLUMNS) {
      const text = ["Name", "Group", "What", "State"].includes(column.name);
      const head = element("th", { scope: "col", className: text ? "" : "number", "data-column": column.name }, element("button", { type: "button", onclick: () => {
        sorted = { column, up: sorted.column === column ? !sorted.up : text };
        for (const other of line.children) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sorted.up ? "ascending" : "descending");
        showTable();
      } }, column.name));
      line.append(head);
    }
    at("rows").append(element("thead", line));
    at("rows").className = COLUMNS.length > 13 ? "wide" : "";
  }

  // ---- the page --------------------------------------------------------------------------

  function makeSwitches() {
    for (const line of LINES) {
      const box = element("input", { type: "checkbox", checked: switched[line.key], onchange: () => {
        switched[line.key] = box.checked;
        for (const panel of panels) panel.draw();
      } });
      at("lines").append(element("label", box, element("span", { className: `swatch ${line.key}` }), line.key));
    }
  }

  function redraw() {
    readColours();
    for (const panel of panels) panel.draw();
    for (const flame of flames) flame.draw();
  }

  function showReport() {
    showAbout();
    makeHead();
    const first = data.rows.find((row) => Number(sizesOf(row).count)) || data.rows[0];
    if (first) showRow(first);
    else at("shown").textContent = "Nothing was traced";
    showTable();
  }

  readColours();
  makeSwitches();
  if (compared) showDifference();
  else showReport();
  at("filter").addEventListener("input", showTable);
  at("clear").addEventListener("click", clearSelection);
  window.addEventListener("resize", redraw);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redraw);
})();
