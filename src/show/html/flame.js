// SPDX-License-Identifier: MIT
/*
 * Flame graphs for the page of `nopwatch report -f html`: stacks from the root at the top down to their
 * leaves, as wide as they were often. A click, or Enter, makes a frame as wide as the picture; the arrow
 * keys move, typing in the field marks. report.js calls it; frames' names go into the page by textContent.
 */
const flameGraph = (() => {
  "use strict";

  const ROW = 18, LEAST = 0.6; // pixels: of a frame in height, at least in width
  const SVG = "http://www.w3.org/2000/svg";
  const many = (n) => Number(n).toLocaleString("en-US");

  /* The tree of [["root;...;leaf", count], ...]; total may be more, if stacks were left out. */
  function treeOf(stacks, total, name) {
    const root = { name, count: 0, depth: 0, children: new Map(), parent: null };
    for (const [text, count] of stacks) {
      let node = root;
      node.count += Number(count);
      for (const frame of text.split(";")) {
        if (!node.children.has(frame)) node.children.set(frame, { name: frame, count: 0, depth: node.depth + 1, children: new Map(), parent: node });
        node = node.children.get(frame);
        node.count += Number(count);
      }
    }
    root.missing = Math.max(0, Number(total || 0) - root.count);
    return root;
  }

  const childrenOf = (node) => [...node.children.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

  /* A function has one colour wherever it is. */
  function hueOf(name) {
    let hash = 0;
    for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
    return 12 + hash % 44;
  }

  function drawn(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    made.append(...children);
    return made;
  }

  class Flame {
    /* element: as in report.js */
    constructor(flame, title, element) {
      this.root = treeOf(flame.stacks, flame.total, flame.of);
      this.zoomed = this.current = this.root;
      this.search = element("input", { type: "search", "aria-label": `Find in ${title === "Stacks" ? "the stacks of " + flame.of : title}`, autocomplete: "off", spellcheck: false, oninput: () => this.draw() });
      this.back = element("button", { type: "button", className: "back", hidden: true, onclick: () => this.zoom(this.root) }, "Show all");
      this.told = element("p", { className: "quiet", role: "status", "aria-live": "polite" });
      this.svg = drawn("svg", { role: "tree", "aria-label": `${title}: ${many(this.root.count)} hits by their callers. Arrow keys move, Enter zooms, Escape shows all.`, class: "flame" });
      const missing = this.root.missing ? ` ${many(this.root.missing)} hits of rare stacks are left out here.` : "";
      this.box = element("div", { className: "stacks" },
        element("div", { className: "bar" }, element("h3", title), this.back, element("label", "Find ", this.search)),
        this.svg, this.told,
        element("p", { className: "quiet" }, `${many(this.root.count)} hits.${missing}`),
        element("p", { className: "quiet help" }, "Click a frame to zoom. By keyboard: arrow keys, Enter, Escape."));
      this.svg.addEventListener("keydown", (event) => this.key(event));
    }

    matches(node) {
      const wanted = this.search.value.trim().toLowerCase();
      return wanted !== "" && node !== this.root && node.name.toLowerCase().includes(wanted);
    }

    /* How many hits have a frame that is looked for, each counted once. */
    found(node) {
      return this.matches(node) ? node.count : childrenOf(node).reduce((sum, child) => sum + this.found(child), 0);
    }

    share(node) {
      const percent = (part, whole) => `${(100 * part / Math.max(1, whole)).toFixed(part === whole ? 0 : 1)} %`;
      return `${node === this.root ? `all of ${node.name}` : node.name}: ${many(node.count)} (${percent(node.count, this.root.count)}` +
        (this.zoomed === this.root ? ")" : `, ${percent(node.count, this.zoomed.count)} of what is shown)`);
    }

    frame(node, left, width) {
      const y = node.depth * ROW, label = this.share(node);
      const above = node.depth < this.zoomed.depth, marked = this.matches(node);
      const shape = drawn("g", {
        role: "treeitem", "aria-level": node.depth + 1, "aria-label": label, "aria-selected": node === this.current,
        tabindex: node === this.current ? 0 : -1, class: `frame${above ? " above" : ""}${marked ? " marked" : ""}`,
      });
      if (node.children.size) shape.setAttribute("aria-expanded", "true");
      const title = drawn("title", {}), inside = Math.floor((width - 6) / 6.6);
      title.textContent = label;
      shape.append(title, drawn("rect", { x: left, y, width: Math.max(0.5, width - 0.6), height: ROW - 1, rx: 1.5,
        fill: marked ? "#b7379b" : node === this.root ? "#9fb2c1" : `hsl(${hueOf(node.name)} 85% 63%)` }));
      if (inside >= 3) {
        const text = drawn("text", { x: left + 3, y: y + 12.5, "aria-hidden": "true" });
        text.textContent = node.name.length > inside ? `${node.name.slice(0, inside - 1)}…` : node.name;
        shape.append(text);
      }
      shape.addEventListener("click", () => this.zoom(node));
      shape.addEventListener("pointerenter", () => { this.told.textContent = label; });
      shape.addEventListener("focus", () => { this.told.textContent = label; });
      node.shape = shape;
      this.svg.append(shape);
      this.deepest = Math.max(this.deepest, node.depth);
    }

    /* A frame, and below it what it has called, from left to right by name. */
    frames(node, left, width) {
      node.shape = null;
      if (width < LEAST) return;
      this.frame(node, left, width);
      for (const child of childrenOf(node)) {
        const part = width * child.count / node.count;
        this.frames(child, left, part);
        left += part;
      }
    }

    draw() {
      const width = Math.max(200, this.box.clientWidth), had = this.svg.contains(document.activeElement);
      this.svg.replaceChildren();
      this.deepest = 0;
      for (let node = this.zoomed.parent; node; node = node.parent) this.frame(node, 0, width);
      this.frames(this.zoomed, 0, width);
      const height = (this.deepest + 1) * ROW;
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.svg.setAttribute("height", String(height));
      this.back.hidden = this.zoomed === this.root;
      if (this.search.value.trim()) {
        const found = this.found(this.root);
        this.told.textContent = `Found in ${many(found)} hits (${(100 * found / Math.max(1, this.root.count)).toFixed(1)} %)`;
      } else if (!had) this.told.textContent = "";
      if (had) this.focus(this.current);
    }

    focus(node) {
      while (!node.shape) node = node.parent;
      if (this.current.shape) {
        this.current.shape.setAttribute("tabindex", "-1");
        this.current.shape.setAttribute("aria-selected", "false");
      }
      this.current = node;
      node.shape.setAttribute("tabindex", "0");
      node.shape.setAttribute("aria-selected", "true");
      node.shape.focus();
    }

    zoom(node) {
      this.zoomed = this.current = node;
      this.draw();
      this.focus(node);
    }

    /* The frame beside this one, or this one. */
    beside(node, step) {
      const shown = node.parent ? childrenOf(node.parent).filter((other) => other.shape) : [node];
      return shown[shown.indexOf(node) + step] || node;
    }

    key(event) {
      const node = this.current;
      const to = {
        ArrowUp: () => node.parent || node,
        ArrowDown: () => childrenOf(node).find((child) => child.shape) || node,
        ArrowLeft: () => this.beside(node, -1),
        ArrowRight: () => this.beside(node, 1),
        Home: () => this.root,
      }[event.key];
      if (to) this.focus(to());
      else if (event.key === "Enter" || event.key === " ") this.zoom(node);
      else if (event.key === "Escape") this.zoom(this.root);
      else return;
      event.preventDefault();
    }
  }

  return (flame, title, element) => new Flame(flame, title, element);
})();
