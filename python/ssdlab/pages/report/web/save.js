// ---- figures as files ------------------------------------------------------------------------------------------------
const PAINT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "paint-order", "font-size", "font-family", "text-anchor", "image-rendering"];
const LINE = 20; // pixels, of a title or of a row of the key
const MARGIN = 12;
/** A copy of an element that needs no style sheet. */
const painted = (element) => {
  const copy = element.cloneNode(false);
  if (element.nodeType !== Node.ELEMENT_NODE) return copy;
  copy.removeAttribute("style");
  const style = getComputedStyle(element);
  for (const name of PAINT) {
    const value = style.getPropertyValue(name);
    if (value && element.tagName !== "g" && !element.closest("clipPath")) copy.setAttribute(name, value);
  }
  if (style.visibility === "hidden" && !element.closest("clipPath")) return svg("g");
  copy.append(...[...element.childNodes].map(painted));
  return copy;
};
/** What lines and colours mean: the schemes that are shown, and the parts of bars. */
const keyOf = (figure) => {
  const runs = data.labels.map((label, run) => ({ label, run })).filter(({ run }) => !hidden.has(run));
  if (figure.plot.k === "chart") return figure.plot.lines.filter(({ name }) => name).map(({ name, run }) => ({ label: name, run }));
  const parts = (figure.plot.parts ?? figure.plot.panels?.flatMap((panel) => panel.marks.flatMap((mark) => mark.layers ?? [])) ?? []).filter(({ colour }) => colour);
  const seen = new Set();
  const named = parts.filter(({ name }) => !seen.has(name) && seen.add(name)).map(({ name, colour }) => ({ label: name, colour }));
  return [...(data.labels.length > 1 ? runs : []), ...named];
};
/** The value of a colour of the style sheet, for a file that has none. */
const resolved = (shade) => (shade.startsWith("var(") ? getComputedStyle(document.documentElement).getPropertyValue(shade.slice(4, -1)).trim() : shade);
/** The picture of a figure, with title and key, as text of an SVG file and its size. */
const pictureOf = (figure) => {
  const ink = getComputedStyle(document.body);
  const [width, height] = ["width", "height"].map((name) => Number(figure.canvas.getAttribute(name)));
  const write = (x, y, content, size) => svg("text", { x, y, "font-size": size, "font-family": "sans-serif", fill: ink.color }, content);
  const key = svg("g");
  let [x, y] = [MARGIN, LINE * 2];
  for (const { label, run, colour: shade } of keyOf(figure)) {
    const room = 46 + label.length * 7;
    if (x + room > width && x > MARGIN) [x, y] = [MARGIN, y + LINE];
    const stroke = resolved(shade ?? colour(run));
    key.append(svg("line", { x1: x, x2: x + 26, y1: y - 4, y2: y - 4, stroke, "stroke-width": shade ? 10 : 2.4, "stroke-dasharray": shade ? "none" : dash(run) }), write(x + 32, y, label, 12));
    x += room;
  }
  const top = y + MARGIN;
  const body = painted(figure.canvas);
  for (const [name, value] of Object.entries({ x: MARGIN, y: top, overflow: "visible" })) body.setAttribute(name, value);
  const size = { width: width + 2 * MARGIN, height: height + top + MARGIN };
  const whole = svg("svg", { xmlns: NAMESPACE, ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  whole.append(svg("rect", { ...size, fill: ink.backgroundColor }), write(MARGIN, LINE, titleOf(figure), 14), key, body);
  return { ...size, text: new XMLSerializer().serializeToString(whole) };
};
const titleOf = ({ host }) => [host.closest("figure")?.querySelector("h2")?.textContent, host.parentElement.querySelector("h3")?.textContent].filter(Boolean).join(": ");

// -- numbers
const UNITS = { ns: "ns", share: "share", count: "count", per_s: "1/s", ratio: "ratio", mb_s: "MB/s", bytes: "bytes" };
const headed = (axis, title) => `${title || axis.label} (${UNITS[axis.unit] ?? axis.unit})`;
const cell = (value) => (value == null ? "" : typeof value === "number" ? String(Number(value.toPrecision(9))) : /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
/** Rows of objects as CSV: a column for each name, in the order in which they come. */
const csv = (rows) => {
  const names = [...new Set(rows.flatMap(Object.keys))];
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join(",")).join("\n") + "\n";
};
const rowsOfBars = ({ axis, parts, groups }) =>
  groups.flatMap(([group, bars]) =>
    bars.filter(({ run }) => !hidden.has(run)).map(({ name, values }) => ({ group, scheme: name, ...Object.fromEntries(values.map((value, part) => [headed(axis, parts[part].name), value])) })),
  );
const rowsOfRanges = ({ axis, ranges }) =>
  ranges.filter(({ run }) => !hidden.has(run)).map(({ name, mean, std, most }) => ({ scheme: name, [headed(axis, "mean")]: mean, [headed(axis, "standard deviation")]: std, [headed(axis, "most")]: most }));
const rowsOfHeat = (x, { y, title }, mark) => {
  const rows = [];
  for (let row = 0; row < mark.rows; row++) {
    for (let bin = 0; bin < mark.bins; bin++) {
      rows.push({ scheme: data.labels[mark.run], ...placeOf(mark, row), ...interval(x, mark, bin), [`${title} (share)`]: cells(mark)[row * mark.bins + bin] / 65535 });
    }
  }
  return rows;
};
const interval = (x, mark, bin) => ({ [`from (${UNITS[x.unit]})`]: bin * mark.width, [`to (${UNITS[x.unit]})`]: (bin + 1) * mark.width });
/** Of a plot over time: a row for each scheme and interval, a column for each panel; of distributions, one for each step. */
const rowsOfPlot = ({ x, panels }) => {
  const [rows, found] = [[], new Map()];
  const at = (run, mark, bin) => {
    const key = `${run} ${bin}`;
    if (!found.has(key)) rows.push(found.set(key, { scheme: data.labels[run], ...interval(x, mark, bin) }).get(key));
    return found.get(key);
  };
  for (const panel of panels) {
    for (const mark of panel.marks.filter(({ run }) => run < 0 || !hidden.has(run))) {
      const name = headed(panel.y, panel.title);
      if (mark.k === "steps") mark.values.forEach((value, bin) => (at(mark.run, mark, bin)[name] = value));
      else if (mark.k === "curve") rows.push(...mark.x.map((value, index) => ({ scheme: mark.name, [headed(x)]: value, [name]: mark.y[index] })));
      else if (mark.k === "stack") for (const layer of mark.layers) layer.values.forEach((value, bin) => (at(mark.run, mark, bin)[headed(panel.y, layer.name)] = value));
      else if (mark.k === "heat") rows.push(...rowsOfHeat(x, panel, mark));
    }
    for (const mark of panel.marks.filter(({ k }) => k === "rule")) {
      for (const row of rows) if (mark.run < 0 || row.scheme === data.labels[mark.run]) row[headed(panel.y, mark.name)] = mark.value;
    }
  }
  return rows;
};
const rowsOf = { plot: rowsOfPlot, bars: rowsOfBars, ranges: rowsOfRanges };

// -- files
const download = (name, href) => {
  const link = html("a", { download: name, href });
  document.body.append(link);
  link.click();
  link.remove();
};
const typed = (type, content) => `data:${type};charset=utf-8,${encodeURIComponent(content)}`;
const SHARP = 2; // pixels of a PNG for one of the page
const savers = {
  csv: (figure, name) => download(name, typed("text/csv", csv(rowsOf[figure.plot.k](figure.plot)))),
  svg: (figure, name) => download(name, typed("image/svg+xml", pictureOf(figure).text)),
  png: async (figure, name) => {
    const { text: content, width, height } = pictureOf(figure);
    const picture = new Image();
    picture.src = typed("image/svg+xml", content);
    await picture.decode();
    const canvas = html("canvas", { width: width * SHARP, height: height * SHARP });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    download(name, canvas.toDataURL("image/png"));
  },
};
document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(".save[open]")) if (!menu.contains(target) || target.closest("button")) menu.open = false;
});
/** Has the buttons of figures save them. */
const saving = () => {
  for (const button of document.querySelectorAll("button[data-save]")) {
    const { save, plot } = button.dataset;
    button.addEventListener("click", () => savers[save](figures.find(({ host }) => host.id === plot), `${plot}.${save}`));
  }
};
