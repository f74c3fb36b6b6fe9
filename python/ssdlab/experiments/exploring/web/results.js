// ---- results: the report's tables and figures, put in place of the last ones ---------------------------------------
const ORDER = ["outcome", "overview", "warnings", "figures", "summary", "notes"];
const markup = (part) => (typeof part === "string" ? part : Object.values(part).join(""));
/** What can be folded, by the part of the page that it is in and its title. */
const folded = (place) => [...place.querySelectorAll("details")].map((details) => [`${details.closest("[id]").id}: ${details.querySelector("summary").getAttribute("aria-label") ?? details.querySelector("summary").textContent}`, details]);
/** Draws figures from new data. Those that stay keep their place, focus and zoom. */
const present = (parts) => {
  const before = new Map(figures.map((figure) => [figure.host.id, figure]));
  const labels = JSON.stringify(data.labels);
  Object.assign(data, { warm_up_ns: undefined }, JSON.parse(parts.data));
  if (labels !== JSON.stringify(data.labels)) {
    hidden.clear();
    document.getElementById("bar").innerHTML = parts.bar;
  }
  const focused = document.activeElement;
  const place = document.getElementById("results");
  const opened = new Set(folded(place).filter(([, { open }]) => open).map(([name]) => name));
  place.innerHTML = ORDER.map((name) => markup(parts[name])).join("");
  for (const [name, details] of folded(place)) details.open = opened.has(name);
  figures.length = 0;
  for (const host of place.querySelectorAll(".plot")) {
    const plot = data.plots[host.id];
    const old = before.get(host.id);
    if (old?.plot.k === plot.k) {
      old.host.setAttribute("aria-label", host.getAttribute("aria-label"));
      host.replaceWith(old.host);
      Object.assign(old, { plot, link: plot.link });
      figures.push(old);
    } else figures.push(plot.k === "plot" ? new Plot(host, plot) : new Rows(host, plot));
  }
  for (const button of place.querySelectorAll("[data-zoom=all]")) button.disabled = !windows[button.dataset.link];
  figures.forEach(({ host }) => watch.observe(host));
  redraw();
  if (focused !== document.activeElement && place.contains(focused)) focused.focus({ preventScroll: true });
};
const redraw = () => figures.forEach((figure) => figure.draw());
const watch = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const figure = figures.find(({ host }) => host === target);
    if (figure && figure.pixels !== target.clientWidth) figure.draw();
  }
});
/** What the buttons of figures and of the bar do; they come and go. */
const pressed = {
  zoom: (button) => {
    const { zoom, link } = button.dataset;
    const figure = figures.find(({ host }) => button.closest("figure").contains(host));
    if (zoom === "all") show(link, null);
    else figure.scaled(zoom === "in" ? 0.5 : 2);
  },
  save: ({ dataset: { save, plot } }) => savers[save](figures.find(({ host }) => host.id === plot), `${plot}.${save}`),
  run: (button) => {
    const run = Number(button.dataset.run);
    if (!hidden.delete(run)) hidden.add(run);
    button.setAttribute("aria-pressed", String(!hidden.has(run)));
    redraw();
  },
};
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  for (const [name, act] of Object.entries(pressed)) if (button?.dataset[name] !== undefined) act(button);
  if (button?.id === "theme") {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
printing();
