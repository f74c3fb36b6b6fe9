// ---- sweeps ----------------------------------------------------------------------------------------------------------
const NONE = -1; // no axis; of an axis that is neither across nor of lines: all of its values, in a panel each
const CHART = 190; // pixels up
const MARK = 3.4; // radius of a mark, pixels
const MOST_PANELS = 24;
Object.assign(SHOW, { ratio: (value) => significant(value, 3), mb_s: (value) => `${significant(value, 3)} MB/s` });

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
  /** Places across: those of numbers to scale, words side by side. */
  across(left, right) {
    const { numbers, texts, log } = this.plot.axis;
    this.stops = texts.map((_, index) => index);
    this.room = (right - left) / texts.length;
    if (!numbers) return (stop) => left + (stop + 0.5) * this.room;
    this.stops.sort((a, b) => numbers[a] - numbers[b]);
    const [low, high] = [numbers[this.stops[0]], numbers[this.stops.at(-1)]];
    const scale = new Scale({ log }, low, high, left + 14, right - 14);
    return (stop) => (high > low ? scale.at(numbers[stop]) : (left + right) / 2);
  }
  draw() {
    const width = this.host.clientWidth;
    if (!width) return;
    this.pixels = width;
    const [left, right, top] = [64, width - 10, 10];
    const { lines, axis, scale } = this.plot;
    const canvas = svg("svg", { "aria-hidden": "true", width });
    this.x = this.across(left, right);
    const bottom = top + CHART;
    const y = new Scale(scale, scale.low, scale.high, bottom, top);
    const { ticks, step } = y.ticks(CHART / 30);
    const write = tickText(scale, y.high, step);
    for (const tick of ticks) {
      const place = f(y.at(tick));
      canvas.append(svg("line", { class: "grid", x1: left, x2: right, y1: place, y2: place }), text(left - 6, place + 4, write(tick), { "text-anchor": "end" }));
    }
    const below = this.below(canvas, bottom);
    canvas.append(svg("rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top }));
    for (const line of lines) this.line(canvas, line, y);
    canvas.append(text(right, below + 18, axis.name, { class: "label", "text-anchor": "end" }));
    canvas.setAttribute("height", below + 25);
    this.canvas?.remove();
    this.canvas = canvas;
    this.host.prepend(canvas);
  }
  /** The values of the axis: numbers where there is room, words all, slanted if they are long. Returns where they end. */
  below(canvas, bottom) {
    const { numbers, texts } = this.plot.axis;
    const short = texts.map((content) => (content.length > 24 ? `${content.slice(0, 23)}…` : content));
    const longest = Math.max(...short.map((content) => content.length));
    const slanted = !numbers && longest * 7 + 6 > this.room;
    let end = -Infinity;
    for (const stop of this.stops) {
      const place = f(this.x(stop));
      canvas.append(svg("line", { class: "tick", x1: place, x2: place, y1: bottom, y2: bottom + 4 }));
      const half = short[stop].length * 3.6;
      if (!slanted && place - half < end + 6) continue;
      end = place + half;
      canvas.append(slanted ? text(place + 4, bottom + 14, short[stop], { "text-anchor": "end", transform: `rotate(-30 ${place + 4} ${bottom + 14})` }) : text(place, bottom + 17, short[stop], { "text-anchor": "middle" }));
    }
    return bottom + 17 + (slanted ? longest * 3.4 : 0);
  }
  line(canvas, { run, at }, y) {
    const shade = colour(run);
    const found = this.stops.filter((stop) => at[stop]);
    if (this.plot.axis.numbers) {
      const path = found.map((stop, index) => `${index ? "L" : "M"}${f(this.x(stop))} ${f(y.at(at[stop].mean))}`).join("");
      canvas.append(svg("path", { class: "line", d: path, "stroke-dasharray": dash(run), style: `stroke:${shade}`, "data-run": run }));
    }
    const aside = this.plot.axis.numbers ? 0 : (run - (this.plot.lines.length - 1) / 2) * Math.min(9, this.room / (this.plot.lines.length + 1)); // marks of words would lie on each other
    for (const stop of found) {
      const { mean, half, seeds, apart } = at[stop];
      const place = this.x(stop) + aside;
      if (half) {
        const [from, to] = [mean - half, mean + half].map((end) => f(y.at(y.axis.log ? Math.max(end, y.low) : end)));
        const bar = [[place, place, from, to], [place - 3, place + 3, from, from], [place - 3, place + 3, to, to]];
        for (const [x1, x2, y1, y2] of bar) canvas.append(svg("line", { class: "interval", x1: f(x1), x2: f(x2), y1, y2, style: `stroke:${shade}`, "data-run": run }));
      }
      // seeds lie beside each other, so that equal ones can be counted
      seeds?.forEach((value, index) => canvas.append(svg("circle", { class: "seed", cx: f(place + (index - (seeds.length - 1) / 2) * Math.min(4, 24 / seeds.length)), cy: f(y.at(value)), r: 2.6, style: `fill:${shade}`, "data-run": run })));
      const middle = f(y.at(mean));
      if (apart) canvas.append(svg("line", { class: "median", x1: f(place - 9), x2: f(place + 9), y1: middle, y2: middle, style: `stroke:${shade}`, "data-run": run }));
      else canvas.append(svg("circle", { cx: f(place), cy: middle, r: MARK, style: `fill:${shade}`, "data-run": run }));
    }
  }
  choose(place, aloud) {
    this.chosen = place;
    const { axis, lines, figure } = this.plot;
    const stop = this.stops[place];
    const rows = lines.map(({ run, name, at }) => [run, name || figure.name, at[stop] ? within(at[stop], SHOW[figure.unit]) : "-"]);
    const head = `${axis.name} ${axis.texts[stop]}`;
    showReadout(this, head, rows, this.x(stop));
    if (aloud) this.spoken.textContent = `${head}: ${rows.map(([, name, value]) => `${name} ${value}`).join(", ")}`;
  }
  leave() {
    this.readout.hidden = true;
  }
}
const within = ({ mean, half, seeds, apart }, write) => (apart ? `median ${write(mean)} of ${seeds.map(write).join(", ")}` : write(mean) + (half == null ? "" : ` ± ${write(half)}`));
/** One scale for all panels: logarithmic if its values, all positive, differ by so much; else from zero. */
const scaleOf = (figure, points, wide) => {
  const values = points.flatMap(({ mean, seeds }) => [mean, ...(seeds ?? [])]);
  const ends = [...values, ...points.flatMap(({ mean, half }) => (half ? [mean - half, mean + half] : []))];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const log = least > 0 && most >= wide * least;
  if (log) return { unit: figure.unit, log, low: Math.max(Math.min(...ends), least / wide) / 1.25, high: Math.max(...ends) * 1.25 };
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return { unit: figure.unit, log, low, high: high + (high - low) * 0.06 || low + 1 };
};

/** What is chosen in a form of selects, by their names. */
const chosenIn = (form) => Object.fromEntries([...form.querySelectorAll("select")].map((select) => [select.name, Number(select.value)]));
const selectOf = (name, label, options, value) => {
  const select = html("select", { name }, ...options.map((content, index) => html("option", { value: index + (options.none ?? 0) }, content)));
  select.value = value;
  return html("label", {}, `${label} `, select);
};
/** Options of which the first is none or all. */
const optional = (first, texts) => Object.assign([first, ...texts], { none: NONE });

/** What an axis can be in a figure. */
const USES = ["x", "lines", "panels"];
/** The figures, with what they say in words, and the differences along the axes. */
class SweepFigure {
  constructor(sweep, watch) {
    Object.assign(this, { sweep, watch, axes: sweep.axes.map((_, axis) => axis) });
    this.form = document.getElementById("choices");
    this.place = document.querySelector("#sweep .plots");
    this.form.addEventListener("change", () => this.renew(chosenIn(this.form)));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    const first = Math.max(sweep.figures.findIndex(({ place }) => place === sweep.first), 0);
    if (sweep.figures.length) this.renew({ figure: first, ...sweep.uses });
  }
  renew(wanted) {
    this.wanted = this.settled(wanted, this.wanted ?? wanted);
    const { x, lines, panels } = this.wanted;
    // axes without a use make panels too, within those of the axis that was chosen
    this.others = this.axes.filter((axis) => axis !== x && axis !== lines).sort((a, b) => (b === panels) - (a === panels));
    this.choices();
    this.draw();
    this.words();
  }
  /** Gives each axis one use: a use that lost its axis to another gets what that one had before. */
  settled(wanted, before) {
    const changed = USES.find((use) => wanted[use] !== before[use]);
    const lost = USES.find((use) => use !== changed && wanted[use] !== NONE && wanted[use] === wanted[changed]);
    if (lost) wanted[lost] = before[changed];
    const free = () => this.axes.find((axis) => this.sweep.axes[axis].texts.length > 1 && !USES.some((use) => wanted[use] === axis)) ?? NONE;
    if (wanted.x === NONE && this.axes.length) wanted.x = free();
    if (wanted.x === NONE) [wanted.x, wanted[changed]] = [before.x, before[changed]];
    if (wanted.panels === NONE) wanted.panels = free();
    return wanted;
  }
  choices() {
    const { sweep, wanted } = this;
    const focus = document.activeElement?.name;
    const axes = sweep.axes.map(({ name }) => name);
    this.form.replaceChildren(
      selectOf("figure", "figure", sweep.figures.map(({ name }) => name), wanted.figure),
      ...(axes.length ? [selectOf("x", "over", axes, wanted.x), selectOf("lines", "lines", optional("-", axes), wanted.lines)] : []),
      ...(axes.length > 1 ? [selectOf("panels", "panels", wanted.panels === NONE ? optional("-", axes) : axes, wanted.panels)] : []),
      ...this.others.filter((index) => sweep.axes[index].texts.length > 1).map((index) => selectOf(`at${index}`, axes[index], optional("a panel each", sweep.axes[index].texts), wanted[`at${index}`] ?? NONE)),
    );
    if (focus) this.form.elements[focus]?.focus();
  }
  draw() {
    const { sweep, wanted, others } = this;
    const figure = sweep.figures[wanted.figure];
    const textOf = (axis, value) => (axis === NONE ? "" : sweep.axes[axis].texts[value]);
    const names = wanted.lines === NONE ? [""] : sweep.axes[wanted.lines].texts.map((content) => (sweep.axes[wanted.lines].numbers ? `${sweep.axes[wanted.lines].name} ${content}` : content));
    const panels = new Map(); // by the values of the axes that make panels
    const drawn = [];
    this.cut = false;
    const place = (group) => others.reduce((sum, axis) => sum * sweep.axes[axis].texts.length + group[axis], 0);
    const inOrder = sweep.groups.map((group, index) => [group, index]).sort(([a], [b]) => place(a) - place(b));
    inOrder.forEach(([group, index]) => {
      if (figure.means[index] == null || others.some((axis) => (wanted[`at${axis}`] ?? NONE) !== NONE && group[axis] !== wanted[`at${axis}`])) return;
      const title = others.filter((axis) => sweep.axes[axis].texts.length > 1).map((axis) => `${sweep.axes[axis].name} ${textOf(axis, group[axis])}`).join(", ");
      if (!panels.has(title) && panels.size === MOST_PANELS) {
        this.cut = true;
        return;
      }
      if (!panels.has(title)) panels.set(title, names.map((name, run) => ({ run, name, at: [] })));
      const seeds = sweep.seeds.length ? sweep.members[index].map((member) => figure.values[member]).filter((value) => value != null) : undefined;
      const point = { mean: figure.means[index], half: figure.halves?.[index], seeds, apart: Boolean(figure.apart?.[index]) };
      panels.get(title)[wanted.lines === NONE ? 0 : group[wanted.lines]].at[wanted.x === NONE ? 0 : group[wanted.x]] = point;
      drawn.push([title, point]);
    });
    const axis = wanted.x === NONE ? { name: "", texts: [""] } : sweep.axes[wanted.x];
    // panels of workloads, whose times may be far apart, have scales of their own
    const apart = others.some((one) => sweep.loads.includes(one) && !sweep.axes[one].numbers);
    const scales = (title) => scaleOf(figure, drawn.filter(([of]) => !apart || of === title).map(([, point]) => point), sweep.wide);
    figures.forEach(({ host }) => this.watch.unobserve(host));
    figures.length = 0;
    const plots = [...panels].map(([title, lines], index) => this.panel({ k: "chart", axis, figure, scale: scales(title), title, lines }, index));
    this.place.replaceChildren(...plots);
    this.place.classList.toggle("one", plots.length === 1);
    document.getElementById("lines").replaceChildren(...names.filter(Boolean).map((name, run) => html("li", {}, swatch(run), name)));
    figures.forEach((chart) => { chart.draw(); this.watch.observe(chart.host); });
    saving();
  }
  panel(plot, index) {
    const id = `sweep-${index}`;
    const name = [plot.figure.name, plot.title].filter(Boolean).join(", ");
    const host = html("div", { class: "plot rows", id, tabindex: 0, role: "application", "aria-roledescription": "figure", "aria-label": `${name}: arrow keys read values` });
    const buttons = ["svg", "png", "csv"].map((kind) => html("button", { type: "button", "data-save": kind, "data-plot": id, "aria-label": `Save as ${kind.toUpperCase()}: ${name}` }, kind.toUpperCase()));
    figures.push(new Chart(host, plot));
    return html("div", {}, html("div", { class: "head" }, html("h3", {}, plot.title || name), html("details", { class: "save" }, html("summary", { "aria-label": `Save: ${name}` }, "Save"), html("div", {}, ...buttons))), host);
  }
  /** The best point, where seeds disagree, and the differences along the axes. */
  words() {
    const { name, best, judged = [], apart, changes, told: remarks = [] } = this.sweep.figures[this.wanted.figure];
    document.getElementById("best").textContent = best ?? `${name}: neither high nor low is better.`;
    document.getElementById("judged").replaceChildren(...judged.map((line) => html("p", { class: "muted" }, line)));
    document.getElementById("judged").parentElement.hidden = !judged.length;
    const told = Object.values(apart ?? {});
    const more = told.length > MOST_TOLD ? [`${told.length - MOST_TOLD} more: their rows below say median.`] : [];
    if (this.cut) more.push(`Only the first ${MOST_PANELS} panels are drawn: choose a value of an axis to see others.`);
    document.getElementById("apart").replaceChildren(...[...told.slice(0, MOST_TOLD).map((line) => `Seeds disagree at ${line}.`), ...more, ...remarks].map((line) => html("p", { class: "warning small" }, line)));
    const table = document.getElementById("changes");
    if (!table) return;
    document.getElementById("changed").textContent = `${name}${remarks.map((line) => ` ${line.split(" ", 1)}`).join("")}`;
    const heads = ["value", "change", "", "range of the pairs", "pairs"].map((head) => html("th", { scope: "col" }, head));
    const rows = changes.flatMap(([axis, ...cells], index) => {
      const first = this.sweep.axes.find((one) => one.name === axis).texts[0];
      const head = axis === changes[index - 1]?.[0] ? [] : [html("tr", {}, html("th", { scope: "rowgroup", colspan: 5 }, `${axis}, against ${first}`))];
      return [...head, html("tr", {}, html("th", { scope: "row" }, cells[0]), ...cells.slice(1).map((content) => html("td", {}, content)))];
    });
    table.replaceChildren(html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
  }
}
const MOST_TOLD = 6;
rowsOf.chart = ({ axis, figure, lines, title }) =>
  lines.flatMap(({ name, at }) => axis.texts.flatMap((content, stop) => (at[stop] ? [chartRow({ axis, figure, title }, name, content, at[stop])] : [])));
const chartRow = ({ axis, figure, title }, name, content, { mean, half, seeds, apart }) => ({
  ...(title ? { panel: title } : {}),
  ...(name ? { line: name } : {}),
  [axis.name]: content,
  [headed(figure, figure.name)]: mean,
  ...(half == null ? {} : { [headed(figure, "half width of the 95 % interval")]: half }),
  ...(apart ? { [headed(figure, "seeds, which disagree: the value is their median")]: seeds.join(" ") } : {}),
});

/** The table of points: sorted by a heading, of the values that are chosen. Of several seeds a row is their mean, and opens its runs. */
class Points {
  constructor(sweep) {
    Object.assign(this, { sweep, sorted: null, down: false, most: 200, open: new Set() });
    const of = (place) => sweep.figures.find((figure) => figure.place === place);
    this.figures = Object.keys(sweep.columns).map(of).filter(Boolean);
    this.keys = [
      ...sweep.axes.map((axis, index) => (group) => axis.numbers?.[sweep.groups[group][index]] ?? sweep.groups[group][index]),
      ...this.figures.map(({ means }) => (group) => means[group] ?? Infinity),
    ];
    this.table = document.getElementById("rows");
    this.filters = document.getElementById("filters");
    this.filters.append(...sweep.axes.map(({ name, texts }, index) => selectOf(`axis${index}`, name, optional("all", texts), NONE)));
    this.filters.addEventListener("change", () => this.draw());
    document.getElementById("more").addEventListener("click", () => this.all());
    document.getElementById("rows-csv").addEventListener("click", () => download("points.csv", typed("text/csv", this.csv())));
    this.head = [...sweep.axes.map(({ name }) => name), ...this.figures.map(({ place }) => sweep.columns[place])].map((name, index) => this.heading(name, index));
    this.body = html("tbody");
    this.table.append(html("thead", {}, html("tr", {}, ...this.head, html("th", { scope: "col" }, sweep.seeds.length ? "runs" : "result"))), this.body);
    this.draw();
    addEventListener("beforeprint", () => this.all());
  }
  all() {
    this.most = Infinity;
    this.draw();
  }
  heading(name, index) {
    const button = html("button", { type: "button", class: "sort" }, name);
    button.addEventListener("click", () => {
      this.down = this.sorted === index && !this.down;
      this.sorted = index;
      this.draw();
    });
    return html("th", { scope: "col" }, button);
  }
  chosen() {
    const wanted = chosenIn(this.filters);
    const { axes, groups } = this.sweep;
    const found = groups.map((_, group) => group).filter((group) => axes.every((_, index) => wanted[`axis${index}`] === NONE || groups[group][index] === wanted[`axis${index}`]));
    if (this.sorted === null) return found;
    const key = this.keys[this.sorted];
    const sign = this.down ? -1 : 1;
    return found.sort((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  }
  draw() {
    const found = this.chosen();
    this.head.forEach((one, index) => one.setAttribute("aria-sort", index !== this.sorted ? "none" : this.down ? "descending" : "ascending"));
    this.body.replaceChildren(...found.slice(0, this.most).flatMap((group) => this.rows(group)));
    const more = found.length > this.most;
    document.getElementById("more").hidden = !more;
    document.getElementById("shown").textContent = `${grouped(Math.min(found.length, this.most), 0)} of ${grouped(this.sweep.groups.length, 0)} points${more ? " (more below)" : ""}`;
  }
  rows(group) {
    const { axes, groups, members, seeds } = this.sweep;
    const runs = members[group];
    const several = seeds.length > 0;
    const cells_ = [...axes.map(({ texts }, index) => texts[groups[group][index]]), ...this.figures.map(({ cells }) => cells[group])].map((content, index) => (index ? html("td", {}, content) : html("th", { scope: "row" }, content)));
    const last = html("td");
    const row = html("tr", {}, ...cells_, last);
    if (!several) return last.append(...this.links(runs[0])), [row];
    const button = html("button", { type: "button", class: "seeds", "aria-expanded": this.open.has(group) }, `${runs.length} ${runs.length === 1 ? "seed" : "seeds"}`);
    button.addEventListener("click", () => {
      if (!this.open.delete(group)) this.open.add(group);
      this.draw();
      this.body.querySelector(`[data-group="${group}"] button`).focus();
    });
    row.dataset.group = group;
    last.append(button);
    return [row, ...(this.open.has(group) ? runs.map((run) => this.single(run)) : [])];
  }
  /** The row of a single seed. */
  single(run) {
    const { axes, seeds } = this.sweep;
    const values = this.figures.map(({ values, unit }) => html("td", {}, values[run] == null ? "" : SHOW[unit](values[run])));
    return html("tr", { class: "single" }, html("td", { colspan: Math.max(axes.length, 1) }, `seed ${seeds[run]}`), ...values, html("td", {}, ...this.links(run)));
  }
  links(run) {
    const { pages, links } = this.sweep;
    return [...(pages[run] ? [html("a", { href: pages[run] }, "report"), " "] : []), ...(links[run] ? [html("a", { href: links[run] }, "result.json")] : [])];
  }
  /** Every run of the points that are shown. */
  csv() {
    const { axes, groups, members, seeds, columns } = this.sweep;
    const row = (group, run) => [
      ...axes.map(({ name, texts }, index) => [name, texts[groups[group][index]]]),
      ...(seeds.length ? [["seed", seeds[run]]] : []),
      ...this.figures.map((figure) => [headed(figure, columns[figure.place]), figure.values[run]]),
    ];
    return csv(this.chosen().flatMap((group) => members[group].map((run) => Object.fromEntries(row(group, run)))));
  }
}
const sweeping = (watch) => {
  if (!data.sweep) return;
  new SweepFigure(data.sweep, watch);
  new Points(data.sweep);
};
