// Curves over time, drawn by uPlot.
const MOST_POINTS = 4000;

// A level in few points: of each stretch of time its largest value, as steps.
function thinned({ at, value: values }, begin, end) {
  if (at.length <= MOST_POINTS) return [Array.from(at), Array.from(values)];
  const width = (end - begin) / MOST_POINTS, times = [], most = [];
  for (let index = 0; index < at.length;) {
    const bin = Math.floor((at[index] - begin) / width);
    let largest = index ? values[index - 1] : 0;
    while (index < at.length && Math.floor((at[index] - begin) / width) === bin) largest = Math.max(largest, values[index++]);
    times.push(begin + bin * width);
    most.push(largest);
  }
  return [times, most];
}

// Curves with one time axis. `lines`: name, colour, times and values, scale; `draw`: what is drawn over them; `chosen`: a span was marked.
class Curves {
  constructor(box, title, lines, { height, begin, end, draw, chosen, clicked }) {
    Object.assign(this, { box, title, lines, height, begin, end, drawOver: draw, chosen, clicked });
    new ResizeObserver(() => this.plot && this.plot.width !== box.clientWidth && this.plot.setSize({ width: box.clientWidth, height })).observe(box);
    this.make();
  }
  make() {
    this.plot?.destroy();
    const [soft, edge] = ["--soft", "--edge"].map(colourOf);
    const axis = { stroke: soft, grid: { stroke: edge, width: .5 }, ticks: { stroke: edge, width: .5 }, font: `11px ${getComputedStyle(document.body).fontFamily}` };
        const [size, name] = unit(this.end);
    const steps = uPlot.paths.stepped({ align: 1 });
    const options = {
      width: this.box.clientWidth || 600, height: this.height, legend: { live: true },
      cursor: { drag: { x: Boolean(this.chosen), y: false, setScale: false }, points: { show: false } },
      scales: { x: { time: false, range: () => [this.begin, this.end] }, ...Object.fromEntries(this.lines.map(line => [line.scale ?? "y", { range: (_plot, _low, high) => [line.least ?? 0, Math.max(Math.min(high ?? 1, line.most ?? Infinity), line.least ?? 0, 1e-9) * 1.05] }])) },
      series: [{ label: "time", value: (_plot, ns) => ns === null || ns === undefined ? "" : short(ns) },
        ...this.lines.map(line => ({ label: line.name, scale: line.scale ?? "y", stroke: colourOf(line.colour), width: 1.4, paths: steps, points: { show: false }, spanGaps: false,
          value: (_plot, found) => found === null || found === undefined ? "" : Number(found.toPrecision(6)).toLocaleString("en") }))],
      axes: [{ ...axis, size: 28, values: (_plot, ticks) => ticks.map(ns => `${Number((ns / size).toPrecision(8))} ${name}`) },
        ...this.lines.filter((line, at) => this.lines.findIndex(other => (other.scale ?? "y") === (line.scale ?? "y")) === at)
          .map((line, at) => ({ ...axis, scale: line.scale ?? "y", size: 46, side: at ? 1 : 3, grid: { ...axis.grid, show: !at } }))],
      hooks: {
        draw: [plot => this.drawOver?.(plot)],
        setSelect: [plot => {
          if (!this.chosen || plot.select.width < 3) return;
          this.chosen(plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x"));
          plot.setSelect({ width: 0, height: 0, left: 0, top: 0 }, false);
        }],
      },
    };
    this.box.replaceChildren(element("h3", { textContent: this.title }));
    this.plot = new uPlot(options, uPlot.join(this.lines.map(({ times, values }) => [times, values])), this.box);
    if (this.clicked) this.plot.over.addEventListener("click", event => this.clicked(this.plot.posToVal(event.offsetX, "x")));
  }
  redraw() { this.plot.redraw(false, false); }
}

// The end of a scale: the largest value, unless that is far above the 98th percentile.
const FAR = 3;
function scaleOf(values) {
  const ordered = values.filter(value => value !== null).sort((one, other) => one - other);
  if (!ordered.length) return 1;
  const high = ordered[Math.floor(.98 * (ordered.length - 1))], most = ordered.at(-1);
  return high > 0 && most > FAR * high ? high * 1.2 : most;
}

// Marks instants whose values are above the scale, at its upper edge.
function triangles(plot, instants, colour) {
  const { ctx, bbox } = plot, size = 5 * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour;
  for (const ns of instants) {
    const x = plot.valToPos(ns, "x", true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x - size, bbox.top + 1.6 * size);
    ctx.lineTo(x + size, bbox.top + 1.6 * size);
    ctx.fill();
  }
  ctx.restore();
}

// Marks a span or an instant in a curve.
function marked(plot, from, to, colour) {
  const { ctx, bbox } = plot;
  const [left, right] = [from, to].map(ns => Math.min(Math.max(plot.valToPos(ns, "x", true), bbox.left), bbox.left + bbox.width));
  ctx.save();
  ctx.fillStyle = colour;
  ctx.globalAlpha = right - left > 3 ? .18 : 1;
  ctx.fillRect(left - 1, bbox.top, Math.max(right - left, 2), bbox.height);
  ctx.restore();
}
