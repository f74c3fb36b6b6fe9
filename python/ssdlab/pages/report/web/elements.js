// ---- elements --------------------------------------------------------------------------------------------------
const svg = (name, attributes = {}, ...children) => {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const html = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const text = (x, y, content, attributes = {}) => svg("text", { x, y, ...attributes }, content);
const colour = (run) => `var(--run-${run % data.colours})`;
// Through the gaps of a line those below it are seen; where colours begin again, lines are broken in another way.
const dash = (run) => data.dashes[(run + Math.floor(run / data.colours)) % data.dashes.length];
/** The line of a scheme, as it is drawn. */
const swatch = (run) => svg("svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" }, svg("line", { x1: 1, x2: 25, y1: 5, y2: 5, style: `stroke:${colour(run)}`, "stroke-dasharray": dash(run) }));
/** Whether a figure is in a folded part of the page, and is drawn once that opens. */
const isFolded = (host) => host.closest("details:not([open])") !== null;
const f = (value) => Math.round(value * 10) / 10;

/** Of several bins, what a mark says they are together; null where there is nothing. */
const joint = (mark, from, to) => {
  let [value, weight] = [null, 0];
  for (let bin = from; bin < Math.min(to, mark.values.length); bin++) {
    const one = mark.values[bin];
    if (one == null) continue;
    if (mark.join === "mean") {
      const counts = mark.weights ? mark.weights[bin] : 1;
      value = (value ?? 0) + one * counts;
      weight += counts;
    } else value = value === null ? one : Math[mark.join](value, one);
  }
  return mark.join === "mean" && value !== null ? value / weight : value;
};
/** A mark with so many bins joined to one, which are remembered. */
const joined = (mark, each) => {
  if (each === 1) return mark;
  if (mark.shown?.each !== each) {
    const values = Array.from({ length: Math.ceil(mark.values.length / each) }, (_, bin) => joint(mark, bin * each, (bin + 1) * each));
    mark.shown = { each, values, width: mark.width * each };
  }
  return mark.shown;
};
const curveAt = (mark, x) => {
  if (!mark.x.length || x < mark.x[0]) return mark.y[0];
  if (mark.end !== undefined && x >= mark.x.at(-1)) return mark.end;
  let [low, high] = [0, mark.x.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (mark.x[middle] <= x) low = middle;
    else high = middle;
  }
  return mark.y[low];
};
