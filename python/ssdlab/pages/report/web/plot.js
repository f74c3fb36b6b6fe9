// ---- plots over a common axis ----------------------------------------------------------------------------------
const GAP = 30; // above each panel, for its heading
const HEIGHT = 118;
const NARROWEST = 3; // pixels of a step
const extent = (link) => {
  if (link === "time") return [0, Math.max(...data.ends_ns.filter((_, run) => !hidden.has(run)), 0) || data.end_ns || 1];
  const all = hidden.size === data.labels.length; // then there is nothing to fit to
  let [low, high] = [Infinity, 0];
  for (const figure of figures) {
    if (figure.plot.link !== link) continue;
    for (const panel of figure.plot.panels) {
      for (const mark of panel.marks) {
        if (hidden.has(mark.run) && !all) continue;
        low = Math.min(low, mark.x[0]);
        high = Math.max(high, mark.x.at(-1));
      }
    }
  }
  if (!high) return [1, 10];
  if (link === "wear" || link === "retries" || link === "written") return [low, high];
  const room = Math.max((high / low) ** 0.02, 1.05);
  return [low / room, high * room];
};

class Plot {
  constructor(host, plot) {
    Object.assign(this, { host, plot, link: plot.link, cursor: null, pixels: 0 });
    this.readout = html("div", { class: "readout", hidden: "" });
    this.spoken = html("p", { class: "spoken", role: "status" });
    host.append(this.readout, this.spoken);
    this.listen();
  }
  shown(mark) {
    return mark.run < 0 || !hidden.has(mark.run);
  }
  /** A mark with bins wide enough to be told apart: joined ones, where there are too many for the width. */
  visible(mark) {
    return joined(mark, Math.max(1, Math.ceil(NARROWEST / (mark.width * this.x.unit) - 1e-9)));
  }
  draw() {
    const width = this.host.clientWidth;
    if (!width || isFolded(this.host)) return;
    this.pixels = width;
    const narrow = width < 420;
    this.left = narrow ? 52 : 62;
    this.right = width - 10;
    const [low, high] = windows[this.link] ?? extent(this.link);
    this.x = new Scale(this.plot.x, low, high, this.left, this.right);
    const { ticks, step } = this.x.ticks((this.right - this.left) / (narrow ? 78 : 95));
    this.ticks = ticks;
    const canvas = svg("svg", { "aria-hidden": "true", width });
    this.canvas?.remove();
    this.frames = [];
    let top = 0;
    for (const panel of this.plot.panels) {
      top += panel.title ? GAP : 12;
      const height = HEIGHT * panel.height;
      this.panel(canvas, panel, top, top + height);
      top += height;
    }
    this.across(canvas, top, step);
    this.warmUp(canvas, top);
    canvas.setAttribute("height", top + 42);
    this.line = svg("line", { class: "cursor", y1: 0, y2: top, visibility: "hidden" });
    this.choice = svg("rect", { class: "choice", y: 0, height: top, visibility: "hidden" });
    canvas.append(this.choice, this.line);
    this.canvas = canvas;
    this.bottom = top;
    this.host.prepend(canvas);
    if (this.cursor !== null) this.point(this.cursor, false);
  }
  across(canvas, bottom, step) {
    const write = tickText(this.plot.x, this.x.high, step);
    for (const tick of this.ticks) {
      const place = f(this.x.at(tick));
      canvas.append(svg("line", { class: "tick", x1: place, x2: place, y1: bottom, y2: bottom + 4 }));
      const anchor = place > this.right - 18 ? "end" : place < this.left + 8 ? "start" : "middle";
      canvas.append(text(anchor === "end" ? this.right + 8 : anchor === "start" ? this.left - 6 : place, bottom + 17, write(tick), { "text-anchor": anchor }));
    }
    canvas.append(text(this.right, bottom + 35, this.plot.x.label, { class: "label", "text-anchor": "end" }));
  }
  /** Where the part ends that the figures leave out. */
  warmUp(canvas, bottom) {
    const place = this.link === "time" && data.warm_up_ns ? f(this.x.at(data.warm_up_ns)) : 0;
    if (place < this.left || place > this.right) return;
    canvas.append(svg("line", { class: "warm-up", x1: place, x2: place, y1: 0, y2: bottom }), text(place, bottom + 35, "end of the warm-up", { "text-anchor": place < this.left + 60 ? "start" : "middle" }));
  }
  /** The values up that are visible, at least what the axis asks for. */
  reach(panel) {
    const { y } = panel;
    let [low, high] = [Infinity, -Infinity];
    const add = (value) => {
      if (value == null || (y.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    // Panels of one kind, each of one scheme, are drawn to one scale.
    const alike = y.same ? figures.flatMap(({ plot }) => plot.panels?.filter((other) => other.y.same === y.same) ?? []) : [panel];
    for (const mark of alike.flatMap(({ marks }) => marks)) {
      if (!this.shown(mark)) continue;
      if (mark.k === "stack") {
        const first = Math.max(Math.floor(this.x.low / mark.width), 0);
        const last = Math.min(Math.floor(this.x.high / mark.width), mark.layers[0].values.length - 1);
        for (let bin = first; bin <= last; bin++) add(mark.layers.reduce((sum, { values }) => sum + values[bin], 0));
      } else if (mark.k === "steps") {
        const { values, width } = this.visible(mark);
        const first = Math.max(0, Math.floor(this.x.low / width));
        const last = Math.min(values.length - 1, Math.floor(this.x.high / width));
        for (let bin = first; bin <= last; bin++) add(values[bin]);
      } else if (mark.k === "curve") {
        mark.x.forEach((x, index) => { if (x >= this.x.low && x <= this.x.high) add(mark.y[index]); });
        add(curveAt(mark, this.x.low));
        add(curveAt(mark, this.x.high));
      } else if (mark.k === "rule") add(mark.value);
    }
    if (!Number.isFinite(low)) [low, high] = y.log ? [y.unit === "ns" ? 1e3 : 0.1, y.high ?? 1e6] : [0, y.high || 1];
    if (y.log) {
      low = Math.min(low, y.low ?? low);
      if (y.high != null) high = y.high;
      const room = Math.max((high / low) ** 0.06, 1.15);
      return [low / room, y.high != null ? high : high * room];
    }
    low = Math.min(low, y.low ?? low);
    high = Math.max(high, y.high ?? high);
    if (high <= low) high = low + 1;
    return [low, y.high != null && high <= y.high ? high : high + (high - low) * 0.06];
  }
  panel(canvas, panel, top, bottom) {
    const heat = panel.marks.find((mark) => mark.k === "heat");
    if (panel.title) canvas.append(text(this.left, top - 9, panel.title, { class: "heading" }));
    const frame = svg("g");
    const id = `clip-${this.host.id}-${this.frames.length}`;
    const clip = svg("clipPath", { id }, svg("rect", { x: this.left, y: top - 2, width: this.right - this.left, height: bottom - top + 4 }));
    const marks = svg("g", { "clip-path": `url(#${id})` });
    const y = heat ? new Scale(panel.y, 0, heat.rows, top, bottom) : new Scale(panel.y, ...this.reach(panel), bottom, top);
    if (heat) this.chips(frame, heat, y);
    else this.up(frame, y, panel);
    for (const tick of this.ticks) {
      const place = f(this.x.at(tick));
      if (!heat) frame.append(svg("line", { class: "grid", x1: place, x2: place, y1: top, y2: bottom }));
    }
    for (const mark of panel.marks) if (this.shown(mark)) this[mark.k](marks, mark, y, top, bottom);
    frame.append(svg("rect", { class: "frame", x: this.left, y: top, width: this.right - this.left, height: bottom - top }));
    canvas.append(clip, ...(heat ? [marks, frame] : [frame, marks]));
    if (heat) this.key(canvas, heat, top);
    this.frames.push({ panel, y, top, bottom });
  }
  up(frame, y, panel) {
    const { ticks, step } = y.ticks((y.from - y.to) / 27);
    const write = tickText(panel.y, y.high, step);
    for (const tick of ticks) {
      const place = f(y.at(tick));
      frame.append(svg("line", { class: "grid", x1: this.left, x2: this.right, y1: place, y2: place }));
      frame.append(text(this.left - 6, place + 4, write(tick), { "text-anchor": "end" }));
    }
  }
  chips(frame, heat, y) {
    if (heat.drives > 1) return this.drives(frame, heat, y);
    const every = roundStep(Math.max(1, (heat.rows * 16) / (y.to - y.from)));
    for (let row = 0; row < heat.rows; row += every) {
      frame.append(text(this.left - 6, f(y.at(row + 0.5)) + 4, `${heat.row} ${row * heat.per_row}`, { "text-anchor": "end" }));
    }
  }
  /** Of an array: which rows belong to which drive. */
  drives(frame, heat, y) {
    const rows = heat.things / heat.drives / heat.per_row;
    const every = Math.ceil(16 / Math.abs(rows * y.unit));
    for (let drive = 0; drive < heat.drives; drive++) {
      const [top, bottom] = [y.at(drive * rows), y.at(Math.min((drive + 1) * rows, heat.rows))].map(f);
      if (drive) frame.append(svg("line", { class: "drive", x1: this.left - 46, x2: this.right, y1: top, y2: top }));
      if (drive % every === 0) frame.append(text(this.left - 6, f((top + bottom) / 2) + 4, `drive ${drive}`, { "text-anchor": "end" }));
    }
  }
  key(canvas, heat, top) {
    const [width, right] = [72, this.right];
    const label = SHOW.share(heat.most);
    const end = right - label.length * 7 - 6;
    RAMP().slice(1).forEach((shade, index, all) => {
      const step = width / all.length;
      canvas.append(svg("rect", { x: f(end - width + index * step), y: top - 18, width: f(step + 0.5), height: 9, fill: shade }));
    });
    canvas.append(text(end - width - 5, top - 9, "0", { "text-anchor": "end" }), text(right, top - 9, label, { "text-anchor": "end" }));
  }
  stroke(mark) {
    return { class: `line ${mark.k}`, "data-run": mark.run, style: `stroke:${colour(mark.run)}`, "stroke-dasharray": dash(mark.run) };
  }
  steps(marks, mark, y) {
    const { values, width } = this.visible(mark);
    const first = Math.max(0, Math.floor(this.x.low / width));
    const last = Math.min(values.length - 1, Math.ceil(this.x.high / width));
    let path = "";
    let open = false;
    for (let bin = first; bin <= last; bin++) {
      const value = values[bin];
      if (value == null) {
        open = false;
        continue;
      }
      const [from, to] = [f(this.x.at(bin * width)), f(this.x.at((bin + 1) * width))];
      const up = f(y.at(value));
      path += open ? `V${up}H${to}` : `M${from} ${up}H${Math.max(to, from + 0.1)}`;
      open = true;
    }
    if (path) marks.append(svg("path", { d: path, ...this.stroke(mark) }));
  }
  curve(marks, mark, y, top, bottom) {
    if (!mark.x.length) return;
    let path = `M${f(this.x.at(mark.x[0]))} ${f(y.at(mark.y[0]))}`;
    for (let index = 1; index < mark.x.length; index++) {
      const up = Math.min(Math.max(y.at(mark.y[index]), top - 50), bottom + 50);
      path += `H${f(this.x.at(mark.x[index]))}V${f(up)}`;
    }
    marks.append(svg("path", { d: path, ...this.stroke(mark) }));
  }
  rule(marks, mark, y, top) {
    const place = f(y.at(mark.value));
    const above = place - top > 16;
    const style = mark.run < 0 ? "" : `stroke:${colour(mark.run)}`;
    marks.append(svg("line", { class: "rule", "data-run": mark.run, style, x1: this.left, x2: this.right, y1: place, y2: place }));
    const soft = mark.name === "T_soft"; // they may lie close to each other
    marks.append(text(soft ? this.right - 4 : this.left + 4, above ? place - 4 : place + 13, mark.name, { class: "rule", "text-anchor": soft ? "end" : "start" }));
  }
  stack(marks, mark, y) {
    const bins = mark.layers[0].values.length;
    const below = new Array(bins).fill(0);
    for (const layer of mark.layers) {
      let path = "";
      layer.values.forEach((share, bin) => {
        if (!share) return;
        const [from, to] = [this.x.at(bin * mark.width), this.x.at((bin + 1) * mark.width)];
        path += `M${f(from)} ${f(y.at(below[bin]))}V${f(y.at(below[bin] + share))}H${f(Math.max(to, from + 0.7))}V${f(y.at(below[bin]))}Z`;
        below[bin] += share;
      });
      if (path) marks.append(svg("path", { d: path, style: `fill:${layer.colour}`, "data-run": mark.run }));
    }
  }
  heat(marks, mark, y) {
    const each = Math.max(1, Math.ceil(1 / (mark.width * this.x.unit) - 1e-9));
    const picture = shades(mark, each);
    // The last column may stand for fewer bins and is drawn as wide as the others.
    const [from, to] = [this.x.at(0), this.x.at(Math.ceil(mark.bins / each) * each * mark.width)];
    const place = { x: from, y: y.from, width: to - from, height: y.to - y.from };
    marks.append(svg("image", { ...place, href: picture, preserveAspectRatio: "none", class: "heat", "data-run": mark.run }));
  }

  // -- reading: a cursor with the values under it, and where that is in the other figures over the same axis
  follow(x) {
    const place = x === null ? -1 : this.x.at(x);
    const seen = place >= this.left && place <= this.right;
    this.line.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) for (const end of ["x1", "x2"]) this.line.setAttribute(end, place);
  }
  followed(x) {
    for (const figure of figures) if (figure.link === this.link && figure.line) figure.follow(x);
  }
  point(x, aloud) {
    this.cursor = Math.min(Math.max(x, this.x.low), this.x.high);
    const place = this.x.at(this.cursor);
    this.followed(this.cursor);
    const value = this.link === "wear" || this.link === "retries" ? Math.floor(this.cursor) : this.cursor; // erases and retries are whole
    const head = `${this.link === "time" ? "at " : ""}${SHOW[this.plot.x.unit](value)}${{ wear: " erases", retries: " retries", written: " MB written" }[this.link] ?? ""}`;
    const rows = this.frames.flatMap((frame) => this.values(frame));
    showReadout(this, head, rows, place);
    if (aloud) this.spoken.textContent = `${head}: ${rows.map(([, name, value]) => (value ? `${name} ${value}` : name)).join(", ")}`;
  }
  stepAt(mark) {
    const { values, width } = this.visible(mark);
    return values[Math.floor(this.cursor / width)];
  }
  values({ panel, y }) {
    const unit = SHOW[panel.y.unit];
    const rows = [];
    for (const mark of panel.marks) {
      if (!this.shown(mark)) continue;
      if (mark.k === "steps" || mark.k === "curve") {
        const value = mark.k === "steps" ? this.stepAt(mark) : curveAt(mark, this.cursor);
        rows.push([mark.run, mark.name, value == null ? "-" : unit(value)]);
      } else if (mark.k === "stack") {
        for (const layer of mark.layers) {
          const share = layer.values[Math.floor(this.cursor / mark.width)];
          if (share) rows.push([layer.colour, layer.name.split(" ")[0], unit(share)]);
        }
      } else if (mark.k === "heat" && this.height !== undefined) {
        const row = Math.floor(y.value(this.height));
        const bin = Math.floor(this.cursor / mark.width);
        if (row < 0 || row >= mark.rows || bin >= mark.bins) continue;
        rows.push([null, nameOf(mark, row), SHOW.share(cells(mark)[row * mark.bins + bin] / 65535)]);
      }
    }
    return rows.length && this.plot.panels.length > 1 && panel.title ? [[null, panel.title, null], ...rows] : rows;
  }
  leave() {
    if (this.cursor !== null) this.followed(null);
    this.cursor = null;
    this.choice?.setAttribute("visibility", "hidden");
    this.readout.hidden = true;
  }

  // -- zooming
  zoom(low, high) {
    const [least, most] = extent(this.link);
    const log = this.plot.x.log;
    const [from, to] = [Math.max(low, least), Math.min(high, most)];
    const smallest = log ? 1.002 : (most - least) / 5000;
    if (!(log ? to / from >= smallest : to - from >= smallest)) return;
    const whole = log ? to / from >= (most / least) * 0.999 : to - from >= (most - least) * 0.999;
    show(this.link, whole ? null : [from, to]);
  }
  scaled(factor) {
    const place = this.x.place;
    const back = this.plot.x.log ? Math.exp : (value) => value;
    const centre = place(this.cursor ?? back((place(this.x.low) + place(this.x.high)) / 2));
    const low = centre - (centre - place(this.x.low)) * factor;
    const high = centre + (place(this.x.high) - centre) * factor;
    this.zoom(back(low), back(high));
  }
  /** Two fingers go on pointing at what they hold: they zoom and move. */
  pinch([one, other], [first, second]) {
    if (first === second || (other - one) * (second - first) <= 0) return;
    const back = this.plot.x.log ? Math.exp : (value) => value;
    const each = (second - first) / (other - one);
    this.zoom(back(first - (one - this.left) * each), back(second + (this.right - other) * each));
  }
  shifted(share) {
    const [least, most] = extent(this.link);
    const place = this.x.place;
    const back = this.plot.x.log ? Math.exp : (value) => value;
    let by = (place(this.x.high) - place(this.x.low)) * share;
    by = Math.min(Math.max(by, place(least) - place(this.x.low)), place(most) - place(this.x.high));
    this.zoom(back(place(this.x.low) + by), back(place(this.x.high) + by));
  }
  listen() {
    let start = null;
    const fingers = new Map(); // where they are across, by pointer
    let held = null; // what two fingers hold, in places of the axis
    const local = (event) => {
      const box = this.host.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const within = (x) => Math.min(Math.max(x, this.left), this.right);
    this.host.addEventListener("pointerdown", (event) => {
      if (event.button || !this.x) return;
      const [x, y] = local(event);
      if (event.pointerType === "touch") {
        fingers.set(event.pointerId, within(x));
        held = fingers.size === 2 ? [...fingers.values()].map((place) => this.x.place(this.x.value(place))) : null;
      }
      if (x < this.left || x > this.right || y > this.bottom) return;
      if (event.pointerType === "touch") {
        this.height = y;
        this.point(this.x.value(x), false);
        return;
      }
      start = x;
      this.host.setPointerCapture(event.pointerId);
    });
    this.host.addEventListener("pointermove", (event) => {
      if (!this.x) return;
      const [x, y] = local(event);
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, within(x));
      if (fingers.size > 1) {
        if (held) this.pinch([...fingers.values()], held);
        return;
      }
      this.height = y;
      const inside = within(x);
      if (start !== null && Math.abs(inside - start) > 3) {
        this.choice.setAttribute("x", Math.min(start, inside));
        this.choice.setAttribute("width", Math.abs(inside - start));
        this.choice.setAttribute("visibility", "visible");
      }
      if (start === null && (x < this.left - 4 || x > this.right + 4 || y > this.bottom)) this.leave();
      else this.point(this.x.value(inside), false);
    });
    const end = (event) => {
      if (fingers.delete(event.pointerId)) held = null;
      if (event.type === "pointercancel") this.leave(); // the page is scrolled
      if (start === null) return;
      const stop = within(local(event)[0]);
      const [low, high] = [Math.min(start, stop), Math.max(start, stop)];
      start = null;
      this.choice.setAttribute("visibility", "hidden");
      if (event.type === "pointerup" && high - low > 6) this.zoom(this.x.value(low), this.x.value(high));
    };
    this.host.addEventListener("pointerup", end);
    this.host.addEventListener("pointercancel", end);
    // What a finger pointed at stays to be read until it points at something else.
    document.addEventListener("pointerdown", (event) => { if (!this.host.contains(event.target) && !event.target.closest?.("button")) this.leave(); });
    this.host.addEventListener("pointerleave", (event) => { if (start === null && event.pointerType !== "touch") this.leave(); });
    let pressed = 0;
    this.host.addEventListener("pointerdown", (event) => { pressed = event.clientX; });
    this.host.addEventListener("click", (event) => {
      const [x, y] = local(event);
      if (this.link === "time" && this.x && Math.abs(event.clientX - pressed) <= 6 && x >= this.left && x <= this.right && y <= this.bottom) intervalAt(this, this.x.value(x));
    });
    this.host.addEventListener("dblclick", () => show(this.link, null));
    this.host.addEventListener("blur", (event) => { if (!event.relatedTarget?.closest("button[data-zoom]")) this.leave(); });
    this.host.addEventListener("keydown", (event) => this.press(event));
  }
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.x) return;
    const middle = (this.x.from + this.x.to) / 2;
    const at = this.cursor === null ? middle : this.x.at(this.cursor);
    this.height ??= this.frames[0].top + 1;
    const heat = this.frames.find(({ panel }) => panel.marks[0]?.k === "heat");
    const row = heat && this.plot.panels.length ? (heat.bottom - heat.top) / heat.panel.marks[0].rows : 0;
    const actions = {
      ArrowLeft: () => (event.shiftKey ? this.shifted(-0.25) : this.point(this.x.value(at - 4), true)),
      ArrowRight: () => (event.shiftKey ? this.shifted(0.25) : this.point(this.x.value(at + 4), true)),
      Home: () => this.point(this.x.low, true),
      End: () => this.point(this.x.high, true),
      "+": () => this.scaled(0.5),
      "=": () => this.scaled(0.5),
      "-": () => this.scaled(2),
      0: () => show(this.link, null),
      Escape: () => (windows[this.link] ? show(this.link, null) : this.leave()),
    };
    if (row) {
      const move = (by) => {
        this.height = Math.min(Math.max(this.height + by, heat.top + 0.5), heat.bottom - 0.5);
        this.point(this.cursor ?? this.x.value(middle), true);
      };
      actions.ArrowUp = () => move(-row);
      actions.ArrowDown = () => move(row);
    }
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}

const TALLEST = 22; // rows of a readout; more stand beside them
/** The mark before a name: the line of a scheme, the colour of a part, or nothing. */
const markOf = (shade) => {
  if (shade === null) return "";
  return typeof shade === "number" ? swatch(shade) : html("i", { style: `background:${shade}` });
};
const showReadout = (figure, head, rows, place) => {
  const { readout, host } = figure;
  const tables = [];
  for (const [shade, name, value] of rows) {
    const begins = rows.length > TALLEST && (value === null || tables.at(-1)?.rows.length >= TALLEST);
    if (begins || !tables.length) tables.push(html("table"));
    tables.at(-1).append(
      value === null
        ? html("tr", {}, html("th", { colspan: 2 }, name))
        : html("tr", {}, html("td", {}, markOf(shade), name), html("td", {}, value)),
    );
  }
  readout.replaceChildren(html("b", {}, head), html("div", {}, ...tables));
  readout.style.left = "0"; // so that it is as wide as it wants to be
  readout.hidden = false;
  const width = readout.offsetWidth;
  const right = place + 14 + width <= host.clientWidth;
  readout.style.left = `${Math.max(0, right ? place + 14 : place - 14 - width)}px`;
  // Above the figure, or below it, so that it covers none of its curves; within, only where the window has room for neither.
  const [box, needed] = [host.getBoundingClientRect(), readout.offsetHeight + 4];
  const above = document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0;
  const isBelow = box.top - needed < above && box.bottom + needed <= innerHeight;
  readout.style.top = `${isBelow ? box.height + 4 : Math.max(-needed, above - box.top + 4)}px`;
};

/** Shows a part of the axis that plots share, or all of it. */
document.addEventListener("toggle", ({ target }) => {
  for (const figure of figures) if (target.open && target.contains(figure.host)) figure.draw();
}, true);
const show = (link, part) => {
  windows[link] = part;
  for (const figure of figures) if (figure.link === link) figure.draw();
  for (const button of document.querySelectorAll(`button[data-zoom="all"][data-link="${link}"]`)) button.disabled = !part;
};
