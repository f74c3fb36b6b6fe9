// Operations as slices on tracks, drawn on a canvas as large as the window that shows them.
const ROW = 19, HEAD = 26;
const LABELLED = 130; // pixels of an operation in the first view, of which half of the time is in longer ones
// Colour (a variable and its strength) by the name of a slice; the first that fits.
const LOOKS = [
  ["read of the host", /^read( request)?$/, "--run-0", 1],
  ["program of the host", /^(program|write request)$/, "--run-1", 1],
  ["transfer", /^transfer/, "--run-5", 1],
  ["page move of GC", /^(move|copyback)/, "--run-3", 1],
  ["erase", /^erase/, "--run-6", 1],
  ["GC job", /^job/, "--run-2", 1],
  ["suspended or stopped", /suspend|put aside|pause|preempt/, "--run-4", 1],
  ["wait", /^wait/, "--soft", .45],
  ["other", /./, "--run-7", 1],
];

class Tracks {
  constructor(operations, view) {
    Object.assign(this, { operations, view, canvas: $("tracks"), box: $("scroller"), selected: NONE, related: [], moment: null, hover: NONE });
    this.looks = operations.about.words.map(word => LOOKS.findIndex(([, fits]) => fits.test(word)));
    this.unfolded = new Set(); // processes whose empty tracks are shown
    this.widths = new Map(); // of texts, pixels
    this.listRows();
    this.listen();
    view.listeners.push(() => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.resize();
  }
  // Tracks below the heading of their process; those without a slice are folded.
  listRows() {
    const { tracks, processes } = this.operations.about;
    const marked = new Set(this.operations.tables.marks.track);
    const isEmpty = track => !this.operations.byTrack[track].length && !marked.has(track);
    this.rows = [];
    tracks.forEach(([process, name], track) => {
      const head = this.rows.findLast(row => row.track === null);
      if (process !== head?.process) {
        const count = tracks.filter(([other], at) => other === process && isEmpty(at)).length;
        const shown = this.unfolded.has(process);
        this.rows.push({ label: `${processes[process]}${count ? ` (${count} empty: click to ${shown ? "fold" : "show"})` : ""}`, track: null, process, count });
      }
      if (!isEmpty(track) || this.unfolded.has(process)) this.rows.push({ label: name, track });
    });
    this.rowOf = new Map(this.rows.map((row, at) => [row.track, at]));
  }
  // Shows or folds the empty tracks of some processes.
  fold(processes) {
    const shown = processes.every(process => this.unfolded.has(process));
    for (const process of processes) shown ? this.unfolded.delete(process) : this.unfolded.add(process);
    this.listRows();
    this.row = undefined;
    this.resize();
  }
  // The first view: where the slowest request began, as near as labels need.
  begin() {
    const { duration } = this.operations.slices, { response } = this.operations.tables.requests;
    const lasts = Array.from(duration).filter((ns, slice) => ns && this.operations.kind(slice) === "operation").sort((one, other) => one - other);
    if (!lasts.length) return;
    let half = lasts.reduce((sum, ns) => sum + ns, 0) / 2;
    const span = lasts.find(ns => (half -= ns) <= 0) * (this.width - this.gutter) / LABELLED;
    if (span >= this.view.span) return;
    const slowest = response.reduce((most, ns, at) => ns > response[most] ? at : most, 0);
    const slice = duration.findIndex((_, one) => this.operations.kind(one) === "request" && this.operations.slices.of[one] === slowest);
    const start = this.operations.slices.start[slice < 0 ? 0 : slice];
    this.view.set(start - span * .1, start + span * .9);
  }
  resize() {
    const whole = this.rows.length * ROW + HEAD;
    this.width = this.box.clientWidth;
    this.gutter = this.width < 700 ? 104 : 176;
    $("rows-height").style.height = `${whole}px`;
    this.height = Math.min(whole, Math.round(innerHeight * .62));
    this.ratio = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: this.width * this.ratio, height: this.height * this.ratio });
    Object.assign(this.canvas.style, { width: `${this.width}px`, height: `${this.height}px` });
    this.draw();
  }
  x(ns) { return this.gutter + (ns - this.view.from) / this.view.span * (this.width - this.gutter); }
  ns(x) { return this.view.from + (x - this.gutter) / (this.width - this.gutter) * this.view.span; }
  y(row) { return HEAD + row * ROW - this.box.scrollTop; }

  draw() {
    const paint = this.canvas.getContext("2d");
    paint.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.ink = Object.fromEntries(["ground", "panel", "ink", "soft", "edge", "focus", "warn"].map(name => [name, colourOf(`--${name}`)]));
    this.fills = LOOKS.map(([, , name, strength]) => {
      const mix = mixed(rgb(this.ink.ground), rgb(colourOf(name)), strength);
      const bright = (mix[0] * 299 + mix[1] * 587 + mix[2] * 114) / 1000 > 140;
      return [`rgb(${mix})`, bright ? "#000" : "#fff"];
    });
    paint.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    paint.textBaseline = "middle";
    paint.fillStyle = this.ink.ground;
    paint.fillRect(0, 0, this.width, this.height);
    this.drawRows(paint);
    this.drawLinks(paint);
    this.drawLabels(paint);
    this.drawAxis(paint);
    this.tellWindow();
  }
  drawRows(paint) {
    const from = Math.max(0, Math.floor(this.box.scrollTop / ROW));
    const until = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.height) / ROW) + 1);
    this.drawn = 0;
    for (let row = from; row < until; row++) {
      const y = this.y(row);
      if (this.rows[row].track === null) {
        paint.fillStyle = this.ink.panel;
        paint.fillRect(0, y, this.width, ROW);
        continue;
      }
      paint.fillStyle = this.ink.edge;
      paint.fillRect(this.gutter, y + ROW - .5, this.width, .5);
      this.drawTrack(paint, this.rows[row].track, y);
    }
    this.drawMarks(paint);
  }
  // Slices that are narrower than a pixel are drawn as one: the work depends on the pixels, not on the slices.
  drawTrack(paint, track, y) {
    const slices = this.operations.byTrack[track], { start, duration, name } = this.operations.slices;
    let at = first(slices.length, index => start[slices[index]] + duration[slices[index]] > this.view.from);
    while (at < slices.length && start[slices[at]] < this.view.to) {
      const slice = slices[at];
      const left = Math.max(this.x(start[slice]), this.gutter), right = Math.min(this.x(start[slice] + duration[slice]), this.width);
      const [fill, ink] = this.fills[this.looks[name[slice]]];
      paint.fillStyle = fill;
      paint.fillRect(left, y + 2, Math.max(right - left - (right - left > 4 ? .6 : 0), .7), ROW - 4);
      this.drawn++;
      if (right - left > 9) this.write(paint, slice, left, right, y, ink);
      if (slice === this.selected || slice === this.hover) this.frame(paint, left, right, y, slice === this.selected);
      at++;
      if (right - left < 1) {
        const next = this.ns(Math.floor(left) + 1);
        const later = first(slices.length, index => start[slices[index]] + duration[slices[index]] > next);
        if (later > at) at = later;
      }
    }
  }
  write(paint, slice, left, right, y, ink) {
    const request = this.operations.request(slice);
    const job = this.operations.job(slice);
    const kind = this.operations.kind(slice);
    const name = this.operations.name(slice), room = right - left - 7;
    const whole = name + (kind === "request" ? ` ${request}` : kind === "job" ? ` ${job}` : "");
    const short = name.replace(/^(move|copyback): /, "");
    const [letter] = short;
    const text = [whole, short, ...(kind === "request" ? [String(request)] : [])].find(one => this.widthOf(paint, one) <= room) ?? (room > 60 ? whole : letter.toUpperCase());
    const place = text.length > 1 ? left + 4 : (left + right) / 2 - 4;
    paint.save();
    paint.beginPath();
    paint.rect(left, y, right - left - 1, ROW);
    paint.clip();
    paint.fillStyle = ink;
    paint.fillText(text, place, y + ROW / 2 + .5);
    paint.restore();
  }
  widthOf(paint, text) {
    if (!this.widths.has(text)) this.widths.set(text, paint.measureText(text).width);
    return this.widths.get(text);
  }
  frame(paint, left, right, y, strong) {
    paint.strokeStyle = this.ink.ink;
    paint.lineWidth = strong ? 2.5 : 1;
    paint.strokeRect(left, y + 1.5, Math.max(right - left, 2), ROW - 3);
  }
  drawMarks(paint) {
    const { at, track, name } = this.operations.tables.marks;
    for (let mark = first(at.length, index => at[index] >= this.view.from); mark < at.length && at[mark] <= this.view.to; mark++) {
      const x = this.x(at[mark]), row = this.rowOf.get(track[mark]);
      paint.fillStyle = this.ink.warn;
      if (row === undefined) {
        paint.fillRect(x, HEAD, 1.5, this.height);
        paint.fillText(this.operations.word(name[mark]), x + 4, HEAD + 8);
      } else {
        const y = this.y(row);
        paint.beginPath();
        paint.moveTo(x, y + 6);
        paint.lineTo(x - 4, y);
        paint.lineTo(x + 4, y);
        paint.fill();
      }
    }
    if (this.moment !== null) {
      paint.fillStyle = this.ink.focus;
      paint.fillRect(this.x(this.moment) - .75, HEAD, 1.5, this.height);
    }
  }
  // Lines from the selected request to its operations, or from the selected operation to its requests.
  drawLinks(paint) {
    if (this.selected === NONE) return;
    const place = slice => [this.x(this.operations.slices.start[slice]), this.y(this.rowOf.get(this.operations.slices.track[slice])) + ROW / 2];
    const [x, y] = place(this.selected);
    paint.strokeStyle = this.ink.ink;
    paint.globalAlpha = .55;
    paint.lineWidth = 1;
    paint.beginPath();
    for (const slice of this.related.slice(0, 400)) {
      const [to, down] = place(slice);
      paint.moveTo(x, y);
      paint.bezierCurveTo(x, (y + down) / 2, to, (y + down) / 2, to, down);
      paint.rect(to - 2, down - 2, 4, 4);
    }
    paint.stroke();
    paint.globalAlpha = 1;
  }
  drawLabels(paint) {
    for (let row = Math.floor(this.box.scrollTop / ROW); row < this.rows.length && this.y(row) < this.height; row++) {
      const { label, track } = this.rows[row], y = this.y(row);
      if (row < 0) continue;
      paint.fillStyle = track === null || row === this.row ? this.ink.panel : this.ink.ground;
      paint.fillRect(0, y, this.gutter - 1, ROW);
      paint.fillStyle = track === null ? this.ink.soft : this.ink.ink;
      paint.save();
      paint.beginPath();
      paint.rect(0, y, track === null ? this.width : this.gutter - 4, ROW);
      paint.clip();
      paint.fillText(label, track === null ? 6 : 14, y + ROW / 2);
      paint.restore();
    }
    paint.fillStyle = this.ink.edge;
    paint.fillRect(this.gutter - 1, 0, 1, this.height);
  }
  drawAxis(paint) {
    paint.fillStyle = this.ink.ground;
    paint.fillRect(0, 0, this.width, HEAD);
    const least = this.view.span / Math.max(2, (this.width - this.gutter) / 120);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = Math.max(1, [1, 2, 5, 10].map(factor => factor * power).find(size => size >= least));
    const [size, name] = unit(Math.max(this.view.to, 1));
    const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
    paint.fillStyle = this.ink.soft;
    for (let tick = Math.ceil(this.view.from / step) * step; tick <= this.view.to; tick += step) {
      const x = this.x(tick);
      paint.fillRect(x, HEAD - 6, 1, 6);
      const text = `${(tick / size).toFixed(digits)} ${name}`;
      if (x + paint.measureText(text).width + 4 < this.width) paint.fillText(text, x + 3, 10);
    }
    paint.fillStyle = this.ink.edge;
    paint.fillRect(0, HEAD - .5, this.width, .5);
  }
  tellWindow() { $("window").textContent = `${placed(this.view.from, this.view.span)} to ${placed(this.view.to, this.view.span)}: ${short(this.view.span)}`; }

  // The slice at a place of the canvas; within two pixels, so that short ones can be pointed at.
  at(x, y) {
    const row = this.rows[Math.floor((y - HEAD + this.box.scrollTop) / ROW)];
    if (y < HEAD || x < this.gutter || !row || row.track === null) return NONE;
    const slices = this.operations.byTrack[row.track], { start } = this.operations.slices;
    for (const near of [0, -2, 2]) {
      const ns = this.ns(x + near);
      const slice = slices[first(slices.length, index => start[slices[index]] > ns) - 1];
      if (slice !== undefined && this.operations.end(slice) > ns) return slice;
    }
    return NONE;
  }
  select(slice, zoom = false) {
    this.selected = slice;
    const operations = this.operations;
    this.related = slice === NONE ? [] : links(operations, slice).flatMap(({ slices }) => slices).filter(other => other !== slice);
    if (slice !== NONE) {
      this.row = this.rowOf.get(operations.slices.track[slice]);
      const y = this.row * ROW;
      if (y < this.box.scrollTop || y + ROW + HEAD > this.box.scrollTop + this.height) this.box.scrollTop = y - this.height / 2;
      const [start, end] = [operations.slices.start[slice], operations.end(slice)];
      if (zoom) this.view.show(start, end);
      else if (end < this.view.from || start > this.view.to) this.view.set(start - this.view.span / 3, start + this.view.span * 2 / 3);
    }
    $("zoom-selected").disabled = slice === NONE;
    showDetails(this, slice);
    this.view.changed();
  }
  // Chooses another slice of the selected track, or the first one that is shown.
  step(by) {
    this.row ??= this.rows.findIndex(row => row.track !== null);
    const track = this.rows[this.row].track;
    if (track === null) return;
    const slices = this.operations.byTrack[track], { start } = this.operations.slices;
    if (!slices.length) return;
    const on = this.selected !== NONE && this.operations.slices.track[this.selected] === track;
    const from = on ? first(slices.length, index => slices[index] >= this.selected) + by : first(slices.length, index => start[slices[index]] >= this.view.from);
    this.select(slices[Math.min(Math.max(from, 0), slices.length - 1)]);
  }
  stepRow(by) {
    this.row ??= -1;
    do this.row = Math.min(Math.max(this.row + by, 0), this.rows.length - 1);
    while (this.rows[this.row].track === null && this.row > 0 && this.row < this.rows.length - 1);
    const y = this.row * ROW;
    if (y < this.box.scrollTop || y + ROW + HEAD > this.box.scrollTop + this.height) this.box.scrollTop = Math.max(0, y - this.height / 2);
    this.draw();
  }
  listen() {
    const { canvas, view, box } = this;
    let pressed = null;
    const place = event => {
      const { left, top } = canvas.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top];
    };
    box.addEventListener("scroll", () => view.changed());
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const [x] = place(event), turned = event.deltaY || event.deltaX;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move(Math.sign(turned) * .1);
      else view.zoom(Math.exp(Math.sign(turned) * .25), this.ns(Math.max(x, this.gutter)));
      tip(event, null);
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => {
      const [x, y] = place(event);
      pressed = { x, y, from: view.from, to: view.to, top: box.scrollTop, zooms: event.shiftKey, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      const [x, y] = place(event);
      if (!pressed) {
        const slice = this.at(x, y);
        if (slice !== this.hover) view.changed();
        this.hover = slice;
        tip(event, slice === NONE ? null : this.operations.described(slice));
        return;
      }
      pressed.moved ||= Math.abs(x - pressed.x) + Math.abs(y - pressed.y) > 4;
      if (!pressed.moved) return;
      tip(event, null);
      if (pressed.zooms) {
        this.draw();
        const paint = canvas.getContext("2d");
        paint.fillStyle = this.ink.focus;
        paint.globalAlpha = .2;
        paint.fillRect(pressed.x, HEAD, x - pressed.x, this.height);
        paint.globalAlpha = 1;
        return;
      }
      const ns = (pressed.x - x) / (this.width - this.gutter) * view.span;
      view.set(pressed.from + ns, pressed.to + ns);
      if (event.pointerType === "mouse") box.scrollTop = pressed.top + pressed.y - y;
    });
    canvas.addEventListener("pointerup", event => {
      const [x, y] = place(event);
      const row = this.rows[Math.floor((y - HEAD + box.scrollTop) / ROW)];
      if (pressed && !pressed.moved && row?.count && y > HEAD) this.fold([row.process]);
      else if (pressed && !pressed.moved) this.select(this.at(x, y));
      else if (pressed?.zooms) view.set(...[this.ns(pressed.x), this.ns(x)].sort((one, other) => one - other));
      pressed = null;
    });
    canvas.addEventListener("pointercancel", () => pressed = null);
    canvas.addEventListener("pointerleave", event => {
      tip(event, null);
      this.hover = NONE;
    });
    const selected = () => this.selected !== NONE && view.show(this.operations.slices.start[this.selected], this.operations.end(this.selected));
    const keys = {
      "+": () => view.zoom(.6), "=": () => view.zoom(.6), "-": () => view.zoom(1 / .6), "ArrowLeft": () => view.move(-.15), "ArrowRight": () => view.move(.15),
      "ArrowUp": () => this.stepRow(-1), "ArrowDown": () => this.stepRow(1), ",": () => this.step(-1), ".": () => this.step(1),
      "Home": () => view.set(view.begin, view.end), "f": selected, "F": selected, "Escape": () => this.select(NONE),
      "e": () => this.fold([...new Set(this.operations.about.tracks.map(([process]) => process))]),
    };
    canvas.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    const buttons = { "zoom-in": "+", "zoom-out": "-", "zoom-left": "ArrowLeft", "zoom-right": "ArrowRight", "zoom-all": "Home", "zoom-selected": "f" };
    for (const [id, key] of Object.entries(buttons)) $(id).addEventListener("click", () => keys[key]());
  }
  // The colours that are used.
  legend() {
    const used = new Set(this.operations.slices.name);
    const looks = new Set([...used].map(name => this.looks[name]));
    const items = [...looks].sort((one, other) => one - other).map(look => {
      const patch = element("span", { className: "patch" });
      patch.style.background = this.fills[look][0];
      return element("li", {}, patch, LOOKS[look][0]);
    });
    $("colours").replaceChildren(...items);
  }
}
