// Unpacks the data and draws.
function overview(operations, view) {
  const wanted = operations.levels.filter(({ name }) => /outstanding|free blocks|dirty/.test(name));
  const colours = ["--run-0", "--run-1", "--run-2", "--run-3"];
  const lines = wanted.slice(0, 4).map((level, at) => {
    const [times, values] = thinned(level, view.begin, view.end);
    return { name: /^drive/.test(level.process) ? `${level.process.split(":")[0]}: ${level.name}` : level.name, colour: colours[at], times, values, scale: /blocks/.test(level.name) ? "blocks" : "y" };
  });
  if (!lines.length) return null;
  const curves = new Curves($("overview"), "The whole recording: drag to choose what is shown below", lines, {
    height: 120, begin: view.begin, end: view.end,
    draw: plot => marked(plot, view.from, view.to, colourOf("--focus")), chosen: (from, to) => view.set(from, to),
  });
  view.listeners.push(() => curves.redraw());
  return curves;
}

async function start() {
  const tables = await unpacked();
  let tracks = null;
  const curves = [];
  if (data.events) {
    const operations = new Operations(tables, data.events);
    const view = new View(data.events.from_ns, data.events.to_ns);
    tracks = new Tracks(operations, view);
    tracks.legend();
    const search = new Search(tracks);
    tracks.begin();
    const go = () => {
      const [, wanted] = /^#request=(\d+)$/.exec(location.hash) ?? [];
      if (wanted) search.find("request", wanted);
    };
    addEventListener("hashchange", go);
    go();
    curves.push(overview(operations, view));
    const full = data.events.full ? ". It ends there because it is full (--timeline-limit)" : "";
    $("extent").textContent = `${grouped(operations.count)} slices from ${short(data.events.from_ns)} to ${short(data.events.to_ns)}${full}.`;
  }
  if (data.blocks) {
    const cells = new Cells(tables, data.blocks, tracks);
    if (tracks) tracks.cells = cells;
    cells.legend();
    curves.push(...cells.curves, { make: () => { cells.legend(); cells.draw(); } });
    const thin = data.blocks.thinned ? "; farther apart than the bins of the series, to limit the number of changes" : "";
    $("blocks-extent").textContent = `${grouped(cells.count)} blocks at ${grouped(cells.last + 1)} instants, ${exact(data.blocks.interval_ns)} apart (the last is the end of the run)${thin}.`;
  }
  const recolour = () => {
    curves.forEach(curve => curve?.make());
    if (tracks) {
      tracks.draw();
      tracks.legend();
    }
  };
  $("theme").addEventListener("click", () => {
    const dark = colourOf("--dark") === "1";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    recolour();
  });
  // On paper there are no buttons, and it is white.
  let theme;
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printed");
    theme = document.documentElement.dataset.theme;
    if (colourOf("--dark") !== "1") return;
    document.documentElement.dataset.theme = "light";
    recolour();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printed");
    if (document.documentElement.dataset.theme === theme) return;
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    recolour();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  $("loading").remove();
  document.documentElement.dataset.drawn = "yes";
}

if (typeof DecompressionStream === "undefined") $("loading").textContent = "This browser cannot unpack the data: it needs one of 2023 or later.";
else start().catch(reason => {
  $("loading").textContent = `The page cannot be drawn: ${reason.message}`;
  throw reason;
});
