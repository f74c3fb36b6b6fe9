// ---- a slow interval leads to its requests ----------------------------------------------------------------------
/** Shows below the figure of response times which of the slowest requests ended in the interval at a time, and how to see the others. */
const intervalAt = (figure, ns) => {
  const place = figure.host.closest("figure");
  const mark = figure.plot.panels?.flatMap(({ marks }) => marks).find((one) => one.k === "steps" && figure.shown(one));
  if (place?.id !== "timeline" || !mark) return;
  const { width } = figure.visible(mark);
  const from = Math.floor(ns / width) * width;
  const exactly = (time) => { const [size, unit] = durationUnit(from + width); return `${significant(time / size, 6)} ${unit}`; };
  const rows = [...document.querySelectorAll("#late [data-ended]")].filter(({ dataset: { ended } }) => ended >= from && ended < from + width);
  const links = rows.flatMap((row, index) => {
    const link = html("a", { href: `#${row.id}` }, row.dataset.name);
    link.addEventListener("click", () => { row.open = true; });
    return index ? [", ", link] : [link];
  });
  const reach = [from - width, from + width].map((time) => Math.round(Math.max(time, 0) / 1000)).join(":");
  const others = [" To see every operation in it, run this with ", html("code", {}, `--timeline slow.html --timeline-window ${reach}`), "."];
  const said = links.length ? ["the slowest requests that ended in it are ", ...links, "."] : ["none of the slowest requests that were kept ended in it."];
  place.querySelector(".interval")?.remove();
  place.append(html("p", { class: "interval", role: "status" }, `${exactly(from)} to ${exactly(from + width)}: `, ...said, ...others));
};
