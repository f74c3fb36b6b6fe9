// ---- sweeps ----------------------------------------------------------------------------------------------------------
const NONE = -1;
const CHART = 190; // pixels up
const MARKS = 3.2; // radius of a mark, pixels
/** A figure of a sweep: one number over one axis, a line for each value of another. */
class Chart {
  constructor(host, plot) {
    Object.assign(this, { host, plot, chosen: -1, pixels: 0 });
    this.readout = html("div", { class: "readout", hidden: "" });
    this.spoken = html("p", { class: "spoken", role: "status" });
    host.append(this.readout, this.spoken);
    const nearest = (event) => {
      const across = event.clientX - host.getBoundingClientRect().left;
      const far = this.stops.map((stop) => Math.abs(this.x(stop) - across));
      this.choose(far.indexOf(Math.min(...far)), false);
    };
    host.addEventListener("pointermove", nearest);
    host.addEventListener("pointerdown", nearest);
    host.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") this.leave(); });
    host.addEventListener("blur", () => this.leave());
    host.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") this.leave();
      if (!by) return;
      event.preventDefault();
      this.choose(Math.min(Math.max(this.chosen + by, 0), this.stops.length - 1), true);
    });
  }
  /** Places across: those of numbers where they lie, on a logarithmic axis if they double or more; of words side by side. */
  across(left, right) {
    const { numbers, texts } = this.plot.axis;
    this.stops = texts.map((_, index) => index);
    if (!numbers) return (stop) => left + ((stop + 0.5) * (right - left)) / texts.length;
    const sorted = [...numbers].sort((a, b) => a - b);
    this.stops.sort((a, b) => numbers[a] - numbers[b]);
    const log = sorted.length > 2 && sorted[0] > 0 && sorted.slice(1).every((value, index) => value >= sorted[index] * 1.9);
    const room = 14; // pixels at both ends
    const scale = new Scale({ log }, sorted[0], sorted.at(-1), left + room, right - room);
    return (stop) => (sorted.length > 1 ? scale.at(numbers[stop]) : (left + right) / 2);
  }
  draw() {
    const width = this.host.clientWidth;
    if (!width) return;
    this.pixels = width;
    const [left, right] = [64, width - 10];
    const { figure, lines, axis, high, low } = this.plot;
    const canvas = svg("svg", { "aria-hidden": "true", width });
    this.x = this.across(left, right);
    const top = this.key(canvas, width);
    const bottom = top + CHART;
    const y = new Scale(figure, low, high + (high - low) * 0.06 || low + 1, bottom, top);
    const { ticks, step } = y.ticks(CHART / 30);
    const write = tickText(figure, y.high, step);
    for (const tick of ticks) {
      const place = f(y.at(tick));
      canvas.append(svg("line", { class: "grid", x1: left, x2: right, y1: place, y2: place }), text(left - 6, place + 4, write(tick), { "text-anchor": "end" }));
    }
    this.below(canvas, bottom);
    canvas.append(svg("rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top }));
    for (const line of lines) this.line(canvas, line, y);
    canvas.append(text(right, bottom + 35, axis.name, { class: "label", "text-anchor": "end" }));
    canvas.setAttribute("height", bottom + 42);
    this.canvas?.remove();
    this.canvas = canvas;
    this.host.prepend(canvas);
  }
  below(canvas, bottom) {
    let end = -Infinity;
    for (const stop of this.stops) {
      const [place, label] = [f(this.x(stop)), this.plot.axis.texts[stop]];
      canvas.append(svg("line", { class: "tick", x1: place, x2: place, y1: bottom, y2: bottom + 4 }));
      const half = label.length * 3.6;
      if (place - half < end + 6) continue; // no room for its label
      end = place + half;
      canvas.append(text(place, bottom + 17, label, { "text-anchor": "middle" }));
    }
  }
  /** The lines by name, in as many rows as that takes; returns where they end. */
  key(canvas, width) {
    if (this.plot.lines.length < 2) return 10;
    let [x, y] = [0, 12];
    for (const { name, run } of this.plot.lines) {
      const room = 48 + name.length * 7.2;
      if (x && x + room > width) [x, y] = [0, y + 18];
      canvas.append(svg("line", { class: "line", x1: x, x2: x + 26, y1: y - 4, y2: y - 4, style: `stroke:${colour(run)}`, "stroke-dasharray": dash(run) }), text(x + 32, y, name));
      x += room;
    }
    return y + 14;
  }
  line(canvas, { run, at }, y) {
    const stroke = { style: `stroke:${colour(run)}`, "data-run": run };
    const found = this.stops.filter((stop) => at[stop]);
    if (this.plot.axis.numbers) {
      const path = found.map((stop, index) => `${index ? "L" : "M"}${f(this.x(stop))} ${f(y.at(at[stop].mean))}`).join("");
      canvas.append(svg("path", { class: "line", d: path, "stroke-dasharray": dash(run), ...stroke }));
    }
    const aside = this.plot.axis.numbers ? 0 : (run - (this.plot.lines.length - 1) / 2) * 9; // marks of words would lie on each other
    for (const stop of found) {
      const { mean } = at[stop];
      const place = f(this.x(stop) + aside);
      const ends = reach(at[stop]);
      if (ends) {
        const [from, to] = ends.map((end) => f(y.at(end)));
        for (const [x1, x2, y1, y2] of [[place, place, from, to], [place - 3, place + 3, from, from], [place - 3, place + 3, to, to]]) canvas.append(svg("line", { class: "interval", x1, x2, y1, y2, ...stroke }));
      }
      canvas.append(svg("circle", { cx: place, cy: f(y.at(mean)), r: MARKS, style: `fill:${colour(run)}`, "data-run": run }));
    }
  }
  choose(place, aloud) {
    this.chosen = place;
    const { axis, lines, figure } = this.plot;
    const stop = this.stops[place];
    const show_ = SHOW[figure.unit];
    const rows = lines.map(({ run, name, at }) => [run, name || figure.name, at[stop] ? within(at[stop], show_) : "-"]);
    const head = `${axis.name} ${axis.texts[stop]}`;
    showReadout(this, head, rows, this.x(stop));
    if (aloud) this.spoken.textContent = `${head}: ${rows.map(([, name, value]) => `${name} ${value}`).join(", ")}`;
  }
  leave() {
    this.readout.hidden = true;
  }
}
/** The ends of what is drawn about a mean: its interval, or of seeds that disagree all values; nothing of one seed. */
const reach = ({ mean, half, range }) => range ?? (half ? [mean - half, mean + half] : null);
const within = ({ mean, half, range }, show_) => (range ? `median ${show_(mean)} (${show_(range[0])} to ${show_(range[1])})` : show_(mean) + (half == null ? "" : ` ± ${show_(half)}`));
Object.assign(SHOW, { ratio: (value) => significant(value, 4), mb_s: (value) => `${significant(value, 4)} MB/s` });

/** What is chosen in a form of selects, by their names. */
const chosenIn = (form) => Object.fromEntries([...form.querySelectorAll("select")].map((select) => [select.name, Number(select.value)]));
const selectOf = (name, label, options, value) => {
  const select = html("select", { name }, ...options.map(([of, content]) => html("option", { value: of }, content)));
  select.value = value;
  return html("label", {}, `${label} `, select);
};

/** The figures: one for each value of the axis that makes panels. */
class SweepFigure {
  constructor(sweep, watch) {
    Object.assign(this, { sweep, watch });
    this.axes = sweep.axes.filter(({ name }) => name !== sweep.seed);
    this.form = document.getElementById("choices");
    this.place = document.querySelector("#sweep .plots");
    this.wanted = this.begin();
    this.form.addEventListener("change", () => this.renew(chosenIn(this.form)));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    if (sweep.figures.length && this.axes.length) this.renew(this.wanted);
  }
  /** The axis with most numbers across, schemes as lines, the next as panels. */
  begin() {
    const all = this.axes.map((_, index) => index);
    const numbered = all.filter((index) => this.axes[index].numbers).sort((a, b) => this.axes[b].texts.length - this.axes[a].texts.length);
    const x = numbered[0] ?? all.at(-1) ?? NONE;
    const others = all.filter((index) => index !== x);
    const lines = others.find((index) => this.axes[index].name === "scheme") ?? others.at(-1) ?? NONE;
    const panels = others.filter((index) => index !== lines).at(-1) ?? NONE;
    return { figure: Math.max(this.sweep.figures.findIndex(({ place }) => place === this.sweep.first), 0), x, lines, panels };
  }
  renew(wanted) {
    // An axis has one use: what was chosen last for another makes room.
    const uses = { ...wanted };
    for (const [use, others] of [["x", ["lines", "panels"]], ["lines", ["panels"]]]) {
      for (const other of others) if (uses[other] === uses[use]) uses[other] = NONE;
    }
    const fixed = this.axes.map((_, index) => index).filter((index) => ![uses.x, uses.lines, uses.panels].includes(index));
    for (const index of fixed) uses[`at${index}`] ??= 0;
    this.wanted = uses;
    this.choices(fixed);
    this.draw(fixed);
  }
  choices(fixed) {
    const focus = document.activeElement?.name;
    const axes = this.axes.map(({ name }, index) => [index, name]);
    const none = [NONE, "-"];
    this.form.replaceChildren(
      selectOf("figure", "figure", this.sweep.figures.map(({ name }, index) => [index, name]), this.wanted.figure),
      selectOf("x", "over", axes, this.wanted.x),
      selectOf("lines", "lines", [none, ...axes], this.wanted.lines),
      selectOf("panels", "panels", [none, ...axes], this.wanted.panels),
      ...fixed.map((index) => selectOf(`at${index}`, this.axes[index].name, this.axes[index].texts.map((content, value) => [value, content]), this.wanted[`at${index}`])),
    );
    if (focus) this.form.elements[focus]?.focus();
  }
  draw(fixed) {
    const { figure: number, x, lines, panels } = this.wanted;
    const figure = this.sweep.figures[number];
    const means = figure.means ?? figure.values; // of one seed
    const of = (axis, value) => (axis === NONE ? () => true : (group) => group[axis] === value);
    const values = (axis) => (axis === NONE ? [0] : this.axes[axis].texts.map((_, value) => value));
    const point = (group) => ({ mean: means[group], half: figure.halves?.[group], range: figure.ranges?.[group] });
    const there = this.sweep.groups.map((group, index) => ({ group, index })).filter(({ group, index }) => means[index] != null && fixed.every((axis) => group[axis] === this.wanted[`at${axis}`]));
    const plots = values(panels).map((panel) => ({
      title: panels === NONE ? "" : `${this.axes[panels].name} ${this.axes[panels].texts[panel]}`,
      lines: values(lines).map((line) => {
        const at = [];
        for (const { group, index } of there) if (of(panels, panel)(group) && of(lines, line)(group)) at[x === NONE ? 0 : group[x]] = point(index);
        return { run: line, name: lines === NONE ? "" : this.axes[lines].texts[line], at };
      }),
    }));
    const ends = there.flatMap(({ index }) => [means[index], ...(reach(point(index)) ?? [])]);
    const scale = { low: Math.min(0, ...ends), high: Math.max(...ends, 0) };
    figures.forEach(({ host }) => this.watch.unobserve(host));
    figures.length = 0;
    this.place.replaceChildren(...plots.map((plot, index) => this.panel({ k: "chart", axis: this.axes[x], figure, ...scale, ...plot }, index)));
    this.place.classList.toggle("one", plots.length === 1);
    figures.forEach((chart) => { chart.draw(); this.watch.observe(chart.host); });
    saving();
  }
  panel(plot, index) {
    const id = `sweep-${index}`;
    const name = [plot.figure.name, plot.title].filter(Boolean).join(", ");
    const host = html("div", { class: "plot rows", id, tabindex: 0, role: "application", "aria-roledescription": "figure", "aria-label": `${name}: arrow keys read values` });
    const buttons = ["svg", "png", "csv"].map((kind) => html("button", { type: "button", "data-save": kind, "data-plot": id, "aria-label": `Save as ${kind.toUpperCase()}: ${name}` }, kind.toUpperCase()));
    figures.push(new Chart(host, plot));
    return html("div", {}, html("div", { class: "head" }, html("h3", {}, name), html("div", { class: "save" }, ...buttons)), host);
  }
}
rowsOf.chart = ({ axis, figure, lines, title }) =>
  lines.flatMap(({ name, at }) =>
    axis.texts.flatMap((content, stop) => (at[stop] ? [{ ...(title ? { panel: title } : {}), ...(name ? { line: name } : {}), [axis.name]: content, [headed(figure, figure.name)]: at[stop].mean, ...(at[stop].half == null ? {} : { [headed(figure, "half width of the 95 % interval")]: at[stop].half }), ...(at[stop].range ? { [headed(figure, "least of seeds that disagree")]: at[stop].range[0], [headed(figure, "largest of seeds that disagree")]: at[stop].range[1] } : {}) }] : [])),
  );

/** The table of points: sorted by a heading, of the values that are chosen. */
class Points {
  constructor(sweep) {
    Object.assign(this, { sweep, sorted: null, down: false, most: 200 });
    this.figures = Object.keys(sweep.columns).map((place) => sweep.figures.find((figure) => figure.place === place)).filter(Boolean);
    this.columns = [
      ...sweep.axes.map((axis, index) => ({ name: axis.name, key: (point) => axis.numbers?.[sweep.points[point][index]] ?? sweep.points[point][index], text: (point) => axis.texts[sweep.points[point][index]], value: (point) => axis.texts[sweep.points[point][index]] })),
      ...this.figures.map((figure) => ({ name: sweep.columns[figure.place], head: headed(figure, sweep.columns[figure.place]), key: (point) => figure.values[point] ?? Infinity, text: (point) => (figure.values[point] == null ? "" : SHOW[figure.unit](figure.values[point]) + sweep.told[figure.place][point]), value: (point) => figure.values[point] })),
    ];
    this.table = document.getElementById("rows");
    this.filters = document.getElementById("filters");
    this.filters.append(...sweep.axes.map((axis, index) => selectOf(`axis${index}`, axis.name, [[NONE, "all"], ...axis.texts.map((content, value) => [value, content])], NONE)));
    this.filters.addEventListener("change", () => this.draw());
    document.getElementById("more").addEventListener("click", () => this.all());
    document.getElementById("rows-csv").addEventListener("click", () => download("points.csv", typed("text/csv", this.csv())));
    this.heads();
    this.draw();
    addEventListener("beforeprint", () => this.all());
  }
  all() {
    this.most = Infinity;
    this.draw();
  }
  heads() {
    const cells_ = this.columns.map((column, index) => {
      const button = html("button", { type: "button", class: "sort" }, column.name);
      button.addEventListener("click", () => {
        this.down = this.sorted === index && !this.down;
        this.sorted = index;
        this.draw();
      });
      return html("th", { scope: "col" }, button);
    });
    this.head = cells_;
    this.body = html("tbody");
    this.table.append(html("thead", {}, html("tr", {}, ...cells_, html("th", { scope: "col" }, "result"))), this.body);
  }
  chosen() {
    const wanted = chosenIn(this.filters);
    const points = this.sweep.points.map((_, point) => point).filter((point) => this.sweep.axes.every((_, index) => wanted[`axis${index}`] === NONE || this.sweep.points[point][index] === wanted[`axis${index}`]));
    if (this.sorted === null) return points;
    const { key } = this.columns[this.sorted];
    const sign = this.down ? -1 : 1;
    return points.sort((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  }
  draw() {
    const points = this.chosen();
    this.head.forEach((cell_, index) => cell_.setAttribute("aria-sort", index !== this.sorted ? "none" : this.down ? "descending" : "ascending"));
    this.body.replaceChildren(...points.slice(0, this.most).map((point) => this.row(point)));
    const more = points.length > this.most;
    document.getElementById("more").hidden = !more;
    document.getElementById("shown").textContent = `${grouped(Math.min(points.length, this.most), 0)} of ${grouped(this.sweep.points.length, 0)} points${more ? " (more below)" : ""}`;
  }
  row(point) {
    const link = this.sweep.links[point];
    const cells_ = this.columns.map(({ text: write }) => html("td", {}, write(point)));
    return html("tr", {}, ...cells_, html("td", {}, link ? html("a", { href: link }, "result.json") : ""));
  }
  csv() {
    return csv(this.chosen().map((point) => Object.fromEntries(this.columns.map(({ name, head, value }) => [head ?? name, value(point)]))));
  }
}
const sweeping = (watch) => {
  if (!data.sweep) return;
  new SweepFigure(data.sweep, watch);
  new Points(data.sweep);
};
