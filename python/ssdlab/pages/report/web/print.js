// ---- on paper --------------------------------------------------------------------------------------------------------
const PAPER = 690; // pixels across that A4 and letter have
const COLUMNS = 5; // of values, that this is wide enough for
/** Of a table that is too wide: copies with some of its columns each, one below the other. */
const divided = (table) => {
  const width = Math.max(...[...table.rows].map((row) => row.cells.length));
  if (width <= COLUMNS + 2) return [];
  return Array.from({ length: Math.ceil((width - 1) / COLUMNS) }, (_, part) => {
    const copy = table.cloneNode(true);
    for (const row of [...copy.rows]) {
      if (row.cells.length === width) [...row.cells].forEach((one, index) => { if (index && Math.floor((index - 1) / COLUMNS) !== part) one.remove(); });
      else if (part && row.cells[0]?.scope !== "rowgroup") row.remove();
      else [...row.cells].forEach((one) => { one.colSpan = Math.min(one.colSpan, COLUMNS); });
    }
    copy.classList.add("paper");
    return copy;
  }).filter((copy) => copy.tBodies[0].rows.length);
};
const PAGE = 900; // pixels down that a page has room for
/** Figures that are higher than a page may be divided between pages; the others stay whole. */
const divideTall = () => {
  for (const plots of document.querySelectorAll(".plots")) {
    const tall = [...plots.querySelectorAll("svg")].some((canvas) => Number(canvas.getAttribute("height")) > PAGE);
    plots.classList.toggle("tall", tall);
  }
};
let undo = [];
/** Everything is drawn as wide as paper; what is folded stays so, and its line says that it is left out. Afterwards the screen is as before. */
const toPaper = () => {
  if (document.documentElement.classList.contains("printed")) return;
  for (const table of document.querySelectorAll(".scroll > table:not(#rows)")) {
    if (table.closest("details:not([open])")) continue;
    const copies = divided(table);
    if (!copies.length) continue;
    table.classList.add("screen");
    table.after(...copies);
    undo.push(() => { table.classList.remove("screen"); copies.forEach((copy) => copy.remove()); });
  }
  for (const button of document.querySelectorAll(".sort")) {
    const said = document.createTextNode(button.textContent); // headings are repeated on each page, buttons are not
    button.replaceWith(said);
    undo.push(() => said.replaceWith(button));
  }
  if (data.labels.length > 1) {
    for (const figure of document.querySelectorAll("figure")) {
      const key = html("ul", { class: "key" });
      data.labels.forEach((label, run) => { if (!hidden.has(run)) key.append(html("li", {}, swatch(run), label)); });
      figure.querySelector("figcaption").after(key);
      undo.push(() => key.remove());
    }
  }
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.style.setProperty("--paper", `${PAPER}px`);
  root.classList.add("printed");
  root.dataset.theme = "light";
  undo.push(() => {
    root.classList.remove("printed");
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  });
  redraw();
  divideTall();
};
const fromPaper = () => {
  undo.forEach((back) => back());
  undo = [];
  redraw();
};
const printing = () => {
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", fromPaper);
};
