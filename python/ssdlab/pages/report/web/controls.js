// ---- the page --------------------------------------------------------------------------------------------------
const redraw = () => figures.forEach((figure) => figure.draw());
for (const host of document.querySelectorAll(".plot")) {
  const plot = data.plots[host.id];
  figures.push(plot.k === "plot" ? new Plot(host, plot) : new Rows(host, plot));
}
redraw();
const watch = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const figure = figures.find(({ host }) => host === target);
    if (figure.pixels !== target.clientWidth) figure.draw();
  }
});
figures.forEach(({ host }) => watch.observe(host));

saving();
printing();
sweeping(watch);
for (const button of document.querySelectorAll("button[data-zoom]")) {
  const { zoom, link } = button.dataset;
  const figure = () => figures.find(({ host }) => button.closest("figure").contains(host));
  button.addEventListener("click", () => {
    if (zoom === "all") show(link, null);
    else figure().scaled(zoom === "in" ? 0.5 : 2);
  });
  if (zoom === "all") button.disabled = true;
}
for (const button of document.querySelectorAll("button[data-whole]")) {
  const figure = figures.find(({ host }) => host.id === button.dataset.whole);
  button.addEventListener("click", () => {
    figure.whole = !figure.whole;
    button.setAttribute("aria-pressed", String(figure.whole));
    figure.draw();
  });
}
for (const button of document.querySelectorAll("button[data-run]")) {
  const run = Number(button.dataset.run);
  button.addEventListener("click", () => {
    if (!hidden.delete(run)) hidden.add(run);
    button.setAttribute("aria-pressed", String(!hidden.has(run)));
    redraw();
  });
  const stress = (on) => () => {
    if (on) document.body.dataset.stressed = String(run);
    else delete document.body.dataset.stressed;
  };
  for (const [event, on] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]]) {
    button.addEventListener(event, stress(on));
  }
}
// The list of sections is folded where it stands above the page; a section that is chosen opens.
const sections = document.querySelector("nav > details");
if (sections) {
  const narrow = matchMedia("(max-width: 999px)");
  const fold = () => { sections.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  sections.addEventListener("click", ({ target }) => {
    const place = target.hash && document.querySelector(target.hash);
    if (!place) return;
    const folded = place.querySelector(":scope > details");
    if (folded && place.matches("figure")) folded.open = true;
    fold();
  });
}
const root = document.documentElement;
const remembered = (() => { try { return localStorage.getItem("ssdlab-theme"); } catch { return null; } })();
if (remembered) root.dataset.theme = remembered;
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("ssdlab-theme", root.dataset.theme); } catch { /* the choice lasts as long as the page */ }
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
if (remembered) redraw();
document.getElementById("copy")?.addEventListener("click", async (event) => {
  const command = document.getElementById("command");
  try {
    await navigator.clipboard.writeText(command.textContent);
    event.target.textContent = "Copied";
    setTimeout(() => (event.target.textContent = "Copy"), 2000);
  } catch {
    getSelection().selectAllChildren(command);
  }
});
root.dataset.drawn = "yes";
