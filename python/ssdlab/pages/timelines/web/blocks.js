// Blocks as cells at an instant, and their curves over time.
const SHARES = { valid: "valid", programmed: "programmed" };
const STATE_COLOURS = ["--panel", "--run-2", "--run-0", "--run-1", "--ink"];
const NO_STREAM = 255;

class Cells {
  constructor(tables, about, tracks) {
    Object.assign(this, { about, tracks, places: tables.blocks, changes: tables.changes, instants: tables.instants, canvas: $("cells"), at: -1, chosen: null, die: "all" });
    this.count = this.places.block.length;
    this.now = Object.fromEntries(["state", "stream", "valid", "programmed", "erases"].map(name => [name, new this.changes[name].constructor(this.count)]));
    this.erases = [0, 0];
    const { erases } = this.changes;
    this.erases = erases.reduce(([low, high], number) => [Math.min(low, number), Math.max(high, number)], [Infinity, 0]);
    this.dies = [];
    for (let block = 0; block < this.count; block++) {
      const last = this.dies.at(-1), [drive, die] = [this.places.drive[block], this.places.die[block]];
      if (last?.drive === drive && last.die === die) last.end = block + 1;
      else this.dies.push({ drive, die, begin: block, end: block + 1 });
    }
    this.listen();
    this.makeCurves();
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
    this.go(0);
  }
  get last() { return this.instants.at.length - 1; }
  label({ drive, die }) { return (this.about.drives > 1 ? `drive ${drive}, ` : "") + `die ${die}`; }

  // Makes `now` the states at an instant. Changes are known forwards only: to go back begins at the start.
  go(at) {
    at = Math.min(Math.max(at, 0), this.last);
    let row = at < this.at || this.at < 0 ? 0 : this.instants.rows[this.at];
    const { block } = this.changes, end = this.instants.rows[at];
    for (const [name, column] of Object.entries(this.now)) {
      const from = this.changes[name];
      for (let change = row; change < end; change++) column[block[change]] = from[change];
    }
    this.at = at;
    $("block-instant").value = at;
    $("block-instant").setAttribute("aria-valuetext", exact(this.instants.at[at]));
    if (this.tracks) {
      this.tracks.moment = this.instants.at[at];
      this.tracks.view.changed();
    }
    this.tell();
    this.draw();
    this.curves.forEach(curve => curve.redraw());
  }
  tell() {
    const counts = [0, 0, 0, 0];
    let valid = 0;
    for (let block = 0; block < this.count; block++) {
      counts[this.now.state[block]]++;
      valid += this.now.valid[block];
    }
    const states = this.about.states.map((name, state) => `${grouped(counts[state])} ${name}`).join(", ");
    $("block-now").textContent = `Instant ${grouped(this.at)} of ${grouped(this.last)}, ${exact(this.instants.at[this.at])}: ${states}; ${grouped(valid)} valid pages`;
    this.tellChosen();
  }
  pairs(block) {
    const { state, stream, valid, programmed, erases } = this.now;
    return [["block", grouped(this.places.block[block])], ["die", this.label({ drive: this.places.drive[block], die: this.places.die[block] })],
      ["pool", grouped(this.places.pool[block])], ["state", this.about.states[state[block]]],
      ["stream", stream[block] === NO_STREAM ? "none known" : String(stream[block])],
      ["valid pages", `${grouped(valid[block])} of ${grouped(this.about.pages)}`], ["programmed pages", grouped(programmed[block])], ["erases", grouped(erases[block])]];
  }
  tellChosen() {
    $("block-chosen").textContent = this.chosen === null ? "No block is chosen." : this.pairs(this.chosen).map(([what, text]) => `${what} ${text}`).join(", ");
  }

  // Where the dies lie, and how large a cell is: the largest at which all dies fit, if any does.
  layout() {
    const width = this.canvas.parentElement.clientWidth, shown = this.dies.filter((_, at) => this.die === "all" || at === Number(this.die));
    for (let cell = 18; ; cell--) {
      const panels = shown.map(die => {
        const columns = Math.max(1, Math.min(Math.ceil(Math.sqrt((die.end - die.begin) * 2)), Math.floor(width / cell)));
        return { ...die, columns, rows: Math.ceil((die.end - die.begin) / columns) };
      });
      let [left, top, deepest] = [0, 0, 0];
      for (const panel of panels) {
        const across = Math.max(panel.columns * cell, 62);
        if (left && left + across > width) [left, top, deepest] = [0, top + deepest + 8, 0];
        Object.assign(panel, { left, top: top + 16 });
        left += across + 14;
        deepest = Math.max(deepest, panel.rows * cell + 16);
      }
      if (top + deepest <= 520 || cell === 2) return { width, height: Math.max(top + deepest, 20), cell, panels };
    }
  }
  // A key or the pointer may come before the page has told the size of the canvas.
  get laid() {
    if (!this.placed) this.resize();
    return this.placed;
  }
  resize() {
    this.placed = this.layout();
    const ratio = this.ratio = devicePixelRatio || 1, { width, height } = this.placed;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.draw();
  }
  // Colours by quantity: a function of a block, as the 32 bits of a pixel.
  painter() {
    const bits = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    const [ground, low, high] = ["--ground", "--edge", "--run-0"].map(name => rgb(colourOf(name)));
    const scale = Array.from({ length: 256 }, (_, at) => bits(mixed(low, high, at / 255)));
    const { state, stream, erases } = this.now, quantity = this.quantity, free = bits(ground), pages = this.about.pages;
    if (quantity === "state") {
      const of = STATE_COLOURS.map(name => bits(rgb(colourOf(name))));
      of[0] = free;
      return block => of[state[block]];
    }
    if (quantity === "stream") {
      const of = Array.from({ length: 8 }, (_, at) => bits(rgb(colourOf(`--run-${at}`)))), none = bits(rgb(colourOf("--edge")));
      return block => state[block] === 0 ? free : stream[block] === NO_STREAM ? none : of[stream[block] % 8];
    }
    const [least, most] = this.erases;
    if (quantity === "erases") return block => scale[Math.round((erases[block] - least) / Math.max(most - least, 1) * 255)];
    const column = this.now[SHARES[quantity]];
    return block => state[block] === 0 ? free : scale[Math.round(column[block] / pages * 255)];
  }
  get quantity() { return $("block-colour").value; }

  draw() {
    if (!this.placed || this.at < 0 || !this.canvas.width || !this.canvas.height) return;
    const paint = this.canvas.getContext("2d"), { cell, panels } = this.placed, { ratio } = this;
    const image = new ImageData(this.canvas.width, this.canvas.height), pixels = new Uint32Array(image.data.buffer);
    const bits = name => {
      const [red, green, blue] = rgb(colourOf(name));
      return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    };
    const [edge, ink, warn] = [bits("--edge"), bits("--ink"), bits("--run-1")];
    const colour = this.painter(), { state } = this.now, gap = cell > 3 ? 1 : 0, stride = this.canvas.width;
    pixels.fill(bits("--ground"));
    for (const panel of panels) {
      for (let block = panel.begin; block < panel.end; block++) {
        const [column, row] = [(block - panel.begin) % panel.columns, Math.floor((block - panel.begin) / panel.columns)];
        const left = Math.round((panel.left + column * cell) * ratio), right = Math.round((panel.left + (column + 1) * cell - gap) * ratio);
        const top = Math.round((panel.top + row * cell) * ratio), bottom = Math.round((panel.top + (row + 1) * cell - gap) * ratio);
        const now = state[block], fill = cell < 6 && now === 3 ? warn : colour(block);
        const ring = cell < 6 ? 0 : Math.round((now === 3 ? 2.5 : now === 1 ? 1.5 : 1) * ratio), line = now === 3 ? warn : now === 1 ? ink : now === 0 ? edge : fill;
        for (let y = top; y < bottom; y++) pixels.fill(y < top + ring || y >= bottom - ring ? line : fill, y * stride + left, y * stride + right);
        if (ring && line !== fill) for (let y = top; y < bottom; y++) {
          pixels.fill(line, y * stride + left, y * stride + left + ring);
          pixels.fill(line, y * stride + right - ring, y * stride + right);
        }
      }
    }
    // Pixels that are put into a canvas while a page is printed do not arrive on paper; a picture does.
    const picture = new OffscreenCanvas(image.width, image.height);
    picture.getContext("2d").putImageData(image, 0, 0);
    paint.setTransform(1, 0, 0, 1, 0, 0);
    paint.drawImage(picture, 0, 0);
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    paint.fillStyle = colourOf("--soft");
    for (const panel of panels) paint.fillText(this.label(panel), panel.left, panel.top - 4);
    if (this.chosen !== null) this.frame(paint);
  }
  frame(paint) {
    const place = this.placeOf(this.chosen);
    if (!place) return;
    paint.strokeStyle = colourOf("--focus");
    paint.lineWidth = 2;
    paint.strokeRect(place[0] - 1.5, place[1] - 1.5, this.placed.cell + 2, this.placed.cell + 2);
  }
  placeOf(block) {
    const panel = this.placed.panels.find(({ begin, end }) => begin <= block && block < end);
    return panel && [panel.left + (block - panel.begin) % panel.columns * this.placed.cell, panel.top + Math.floor((block - panel.begin) / panel.columns) * this.placed.cell];
  }
  blockAt(x, y) {
    const { cell, panels } = this.laid;
    for (const { left, top, columns, begin, end } of panels) {
      const [column, row] = [Math.floor((x - left) / cell), Math.floor((y - top) / cell)];
      const block = begin + row * columns + column;
      if (column >= 0 && column < columns && row >= 0 && block < end) return block;
    }
    return null;
  }
  choose(block) {
    this.chosen = block;
    this.tellChosen();
    this.draw();
  }
  // A block at the last instant up to a time. `drive`: "drive N", or nothing for the only one.
  show(drive, number, ns) {
    const wanted = Number(/\d+/.exec(drive)?.[0] ?? 0);
    $("block-die").value = this.die = "all";
    this.resize();
    this.go(first(this.instants.at.length, at => this.instants.at[at] > ns) - 1);
    const block = this.dies.find(die => die.drive === wanted).begin + number;
    this.choose(block);
    this.canvas.scrollIntoView({ block: "center" });
  }
  play(on = !this.timer) {
    clearInterval(this.timer);
    this.timer = null;
    if (on) {
      if (this.at === this.last) this.go(0);
      this.timer = setInterval(() => this.at < this.last ? this.go(this.at + 1) : this.play(false), 1000 / Number($("block-speed").value));
    }
    $("block-play").textContent = on ? "Pause" : "Play";
    $("block-play").setAttribute("aria-pressed", String(on));
  }
  legend() {
    const patch = (colour, text, ring) => {
      const made = element("span", { className: "patch" });
      Object.assign(made.style, { background: colour, borderColor: ring ?? colour });
      return element("li", {}, made, text);
    };
    const streams = () => [...new Set(this.changes.stream)].sort((one, other) => one - other)
      .map(stream => stream === NO_STREAM ? patch(colourOf("--edge"), "not filled by a stream of this run") : patch(colourOf(`--run-${stream % 8}`), `stream ${stream}`));
    const scale = (low, high) => {
      const bar = element("span", { className: "scale" });
      bar.style.background = `linear-gradient(90deg, ${colourOf("--edge")}, ${colourOf("--run-0")})`;
      return [element("li", {}, low, bar, high)];
    };
    const quantity = this.quantity;
    const items = quantity === "state" ? this.about.states.map((name, state) => patch(state ? colourOf(STATE_COLOURS[state]) : colourOf("--ground"), name, state ? undefined : colourOf("--edge")))
      : quantity === "stream" ? streams() : quantity === "erases" ? scale(grouped(this.erases[0]), `${grouped(this.erases[1])} erases`) : scale("0", `${grouped(this.about.pages)} pages`);
    const rings = quantity === "state" ? [] : [patch(colourOf("--ground"), "free", colourOf("--edge")), patch("transparent", "open: a frame", colourOf("--ink")), patch("transparent", "victim: a frame (a small cell is filled)", colourOf("--run-1"))];
    $("block-legend").replaceChildren(...items, ...rings);
  }
  makeCurves() {
    const times = Array.from(this.instants.at), end = Math.max(times.at(-1), 1);
    const draw = plot => this.at >= 0 && marked(plot, this.instants.at[this.at], this.instants.at[this.at], colourOf("--focus"));
    const clicked = ns => this.go(Math.max(0, first(times.length, at => times[at] > ns) - 1));
    const options = { height: 130, begin: 0, end, draw, clicked };
    const { amplification, free, fewest } = this.about;
    this.curves = [new Curves($("free-blocks"), "Free blocks", [{ name: "all", colour: "--run-0", times, values: free, scale: "y" }, { name: "pool with the fewest", colour: "--run-1", times, values: fewest, scale: "fewest" }], options)];
    // A value holds from the instant before to its own.
    const held = amplification && [...amplification.slice(1), null];
    const most = amplification && scaleOf(held), beyond = amplification ? held.filter(value => value > most).length : 0;
    const cut = beyond ? `; ${beyond} of ${held.length} values are above the scale (triangles), up to ${grouped(Math.round(Math.max(...held)))}` : "";
    const drawMarked = plot => { draw(plot); triangles(plot, times.filter((_, at) => held[at] > most), colourOf("--run-2")); };
    if (amplification) this.curves.push(new Curves($("amplification"), `Write amplification (pages programmed, by those that GC did not move${cut})`, [{ name: "to the next instant", colour: "--run-2", times, values: held, least: 0, most }], { ...options, draw: drawMarked }));
    else $("amplification").remove();
  }
  listen() {
    const { canvas } = this;
    $("block-instant").max = this.last;
    $("block-die").append(element("option", { value: "all", textContent: "all dies" }), ...this.dies.map((die, at) => element("option", { value: String(at), textContent: this.label(die) })));
    $("block-instant").addEventListener("input", event => this.go(Number(event.target.value)));
    $("block-first").addEventListener("click", () => this.go(0));
    $("block-back").addEventListener("click", () => this.go(this.at - 1));
    $("block-on").addEventListener("click", () => this.go(this.at + 1));
    $("block-play").addEventListener("click", () => this.play());
    $("block-speed").addEventListener("change", () => this.timer && this.play(true));
    $("block-colour").addEventListener("change", () => {
      this.legend();
      this.draw();
    });
    $("block-die").addEventListener("change", event => {
      this.die = event.target.value;
      this.resize();
    });
    const place = event => {
      const { left, top } = canvas.getBoundingClientRect();
      return this.blockAt(event.clientX - left, event.clientY - top);
    };
    canvas.addEventListener("pointermove", event => {
      const block = place(event);
      tip(event, block === null ? null : this.pairs(block));
    });
    canvas.addEventListener("pointerleave", event => tip(event, null));
    canvas.addEventListener("click", event => this.choose(place(event)));
    if (this.tracks) {
      $("block-moment").hidden = false;
      $("block-moment").addEventListener("click", () => {
        const { view } = this.tracks, at = this.instants.at[this.at];
        view.set(at - view.span / 2, at + view.span / 2);
        $("operations").scrollIntoView();
      });
    }
    const columns = () => this.laid.panels.find(({ begin, end }) => begin <= this.chosen && this.chosen < end)?.columns ?? 1;
    const step = by => this.choose(this.chosen === null ? this.laid.panels[0].begin : Math.min(Math.max(this.chosen + by, 0), this.count - 1));
    const search = () => {
      if (this.chosen === null || !this.tracks) return;
      $("search-kind").value = "block";
      $("search-number").value = this.places.block[this.chosen];
      $("search").requestSubmit();
      $("tracks").focus();
    };
    const keys = {
      "ArrowLeft": () => step(-1), "ArrowRight": () => step(1), "ArrowUp": () => step(-columns()), "ArrowDown": () => step(columns()),
      " ": () => this.play(), "PageUp": () => this.go(this.at - 1), "PageDown": () => this.go(this.at + 1), "Home": () => this.go(0), "End": () => this.go(this.last), "Enter": search,
    };
    canvas.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
