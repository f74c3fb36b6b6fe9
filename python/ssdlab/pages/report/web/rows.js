// ---- bars and ranges -------------------------------------------------------------------------------------------
const ROW = 24;
class Rows {
  constructor(host, plot) {
    Object.assign(this, { host, plot, chosen: -1, whole: false });
    this.readout = html("div", { class: "readout", hidden: "" });
    this.spoken = html("p", { class: "spoken", role: "status" });
    host.append(this.readout, this.spoken);
    const read = (event) => {
      const box = host.getBoundingClientRect();
      const found = this.places.findIndex((place) => Math.abs(event.clientY - box.top - place) <= ROW / 2);
      if (found < 0) this.leave();
      else this.choose(found, false);
    };
    host.addEventListener("pointermove", read);
    host.addEventListener("pointerdown", read);
    host.addEventListener("pointercancel", () => this.leave());
    host.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") this.leave(); });
    document.addEventListener("pointerdown", (event) => { if (!host.contains(event.target)) this.leave(); });
    host.addEventListener("blur", () => this.leave());
    host.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") this.leave();
      if (!by || !this.rows.length) return;
      event.preventDefault();
      this.choose(Math.min(Math.max(this.chosen + by, 0), this.rows.length - 1), true);
    });
  }
  draw() {
    const width = this.host.clientWidth;
    if (!width || isFolded(this.host)) return;
    this.pixels = width;
    const bars = this.plot.k === "bars";
    const groups = bars ? this.plot.groups : [["", this.plot.ranges]];
    const visible = groups.map(([name, rows]) => [name, rows.filter((row) => !hidden.has(row.run))]);
    this.rows = visible.flatMap(([name, rows]) => rows.map((row) => ({ ...row, group: name })));
    const total = (row) => (bars ? this.sum(row) : row.most);
    const far = (row) => (this.whole ? Number(total(row) > 0) : bars ? total(row) : Math.max(row.most, row.mean + row.std));
    const longest = Math.max(...this.rows.map(far), 0) || 1;
    const axis = this.whole ? { ...this.plot.axis, unit: "share", label: `share of the ${this.plot.axis.label}` } : this.plot.axis;
    const unit = SHOW[this.plot.axis.unit];
    const letters = Math.max(...groups.flatMap(([, rows]) => rows.map((row) => row.name.length)), 0);
    const left = Math.min(letters * 7.2 + 36, width * 0.4);
    const right = width - 78;
    const canvas = svg("svg", { "aria-hidden": "true", width });
    const across = new Scale(axis, 0, longest, left, right);
    const lines = svg("g");
    canvas.append(lines);
    this.places = [];
    let top = 4;
    for (const [name, rows] of visible) {
      if (!rows.length) continue;
      if (name) {
        canvas.append(text(0, top + 15, name, { class: "heading" }));
        top += 24;
      }
      for (const row of rows) {
        const middle = top + ROW / 2;
        canvas.append(
          svg("line", { class: "line", x1: 0, x2: 22, y1: middle, y2: middle, style: `stroke:${colour(row.run)}`, "stroke-width": 2.4, "stroke-dasharray": dash(row.run) }),
          text(28, middle + 4, row.name.length * 7.2 > left - 32 ? `${row.name.slice(0, Math.floor((left - 40) / 7.2))}…` : row.name, {}),
        );
        if (bars) this.bar(canvas, row, across, middle);
        else this.range(canvas, row, across, middle);
        canvas.append(text(f(across.at(far(row))) + 6, middle + 4, unit(total(row)), { class: "value" }));
        this.places.push(middle);
        top += ROW;
      }
      top += 8;
    }
    const { ticks, step } = across.ticks((right - left) / (width < 420 ? 60 : 90));
    const write = tickText(axis, longest, step);
    for (const tick of ticks) {
      const place = f(across.at(tick));
      lines.append(svg("line", { class: "grid", x1: place, x2: place, y1: 4, y2: top }));
      canvas.append(text(place, top + 14, write(tick), { "text-anchor": "middle" }));
    }
    canvas.append(text(width, top + 32, axis.label, { class: "label", "text-anchor": "end" }));
    canvas.setAttribute("height", top + 38);
    this.canvas?.remove();
    this.canvas = canvas;
    this.host.prepend(canvas);
  }
  sum(row) {
    return row.values.reduce((sum, value) => sum + value, 0);
  }
  bar(canvas, row, across, middle) {
    let sum = 0;
    const scale = this.whole ? this.sum(row) || 1 : 1;
    row.values.map((value) => value / scale).forEach((value, index) => {
      if (!value) return;
      const [from, to] = [across.at(sum), across.at(sum + value)];
      sum += value;
      const fill = this.plot.parts[index].colour ?? colour(row.run);
      canvas.append(svg("rect", { class: "part", x: f(from), y: middle - 8, width: f(Math.max(to - from, 0.5)), height: 16, style: `fill:${fill}`, "data-run": row.run }));
    });
  }
  range(canvas, row, across, middle) {
    const shade = `fill:${colour(row.run)};stroke:${colour(row.run)}`;
    const [low, high] = [across.at(Math.max(row.mean - row.std, 0)), across.at(row.mean + row.std)];
    const most = f(across.at(row.most));
    canvas.append(
      svg("line", { x1: f(across.at(row.mean)), x2: most, y1: middle, y2: middle, style: shade, "data-run": row.run }),
      svg("rect", { class: "spread", x: f(low), y: middle - 4, width: f(high - low), height: 8, style: `fill:${colour(row.run)}`, "data-run": row.run }),
      svg("circle", { cx: f(across.at(row.mean)), cy: middle, r: 4.5, style: shade, "data-run": row.run }),
      svg("line", { class: "most", x1: most, x2: most, y1: middle - 7, y2: middle + 7, style: shade, "data-run": row.run }),
    );
  }
  choose(index, aloud) {
    this.chosen = index;
    const row = this.rows[index];
    const unit = SHOW[this.plot.axis.unit];
    const share = (value) => (this.whole ? ` (${SHOW.share(value / this.sum(row))})` : "");
    const rows =
      this.plot.k === "bars"
        ? row.values.map((value, part) => [this.plot.parts[part].colour ?? row.run, this.plot.parts[part].name, value ? unit(value) + share(value) : "0"])
        : [[null, "mean", unit(row.mean)], [null, "standard deviation", unit(row.std)], [null, "most", unit(row.most)]];
    const head = row.group ? `${row.name}, ${row.group.toLowerCase()}` : row.name;
    showReadout(this, head, rows, this.host.clientWidth * 0.5);
    if (aloud) this.spoken.textContent = `${head}: ${rows.map(([, name, value]) => `${name} ${value}`).join(", ")}`;
  }
  leave() {
    this.chosen = -1;
    this.readout.hidden = true;
  }
}
