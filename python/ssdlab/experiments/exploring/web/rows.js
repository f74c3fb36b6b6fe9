// ---- a row for each configuration key --------------------------------------------------------------------------
const about = ({ description, default: usual, minimum, maximum }) => {
  const most = maximum === undefined ? " or more" : ` to ${grouped(maximum, 6)}`;
  const range = minimum === undefined ? "" : ` Range: ${grouped(minimum, 6)}${most}.`;
  return `${description.replaceAll("`", "")}${range}${usual == null ? "" : ` Default: ${typeof usual === "object" ? JSON.stringify(usual) : usual}.`}`;
};
const hasRange = ({ kind }) => kind === "integer" || kind === "number";
/** The control for a value: it calls `change` with a text for each value that is chosen, or that a slider stopped at, and `preview` while that moves. */
const controlOf = (key, id, change, preview) => {
  if (key.kind === "choice") {
    const control = html("select", { id });
    if (key.optional) control.append(html("option", { value: "" }, "not set"));
    for (const { name, description } of key.choices) control.append(html("option", { value: name, title: description.replaceAll("`", "") }, name));
    control.addEventListener("change", () => change(control.value));
    return { parts: [control], show: (value) => { control.value = value; control.title = control.selectedOptions[0]?.title ?? ""; } };
  }
  if (key.kind === "boolean") {
    const control = html("input", { id, type: "checkbox" });
    control.addEventListener("change", () => change(String(control.checked)));
    return { parts: [control], show: (value) => { control.checked = value === "true"; } };
  }
  const control = html("input", { id, autocomplete: "off", spellcheck: "false", placeholder: key.optional ? "not set" : "", class: hasRange(key) ? "number" : "text" });
  control.addEventListener("change", () => change(control.value.trim()));
  const parts = [control, ...(key.unit ? [html("span", { class: "unit" }, key.unit)] : [])];
  if (!hasRange(key)) return { parts, show: (value) => { control.value = value; } };
  const slider = html("input", { type: "range", min: 0, step: 1, "aria-label": `${key.name}, slider` });
  let stops = [];
  let moving = false; // what is dragged is not put back by an answer
  const chosen = () => String(stops[slider.value]);
  slider.addEventListener("input", () => { moving = true; control.value = chosen(); slider.setAttribute("aria-valuetext", chosen()); preview(chosen()); });
  const stopped = () => { if (moving) { moving = false; change(chosen(), true); } };
  slider.addEventListener("change", stopped);
  slider.addEventListener("pointerup", () => setTimeout(stopped)); // back where it began, it has not changed
  const show = (value, preset) => {
    if (moving) return;
    control.value = value;
    stops = stopsOf(key, preset);
    slider.max = stops.length - 1;
    slider.value = nearest(stops, Number(value));
    slider.setAttribute("aria-valuetext", value);
  };
  return { parts: [...parts, slider], show };
};
let rowsMade = 0;
class Row {
  constructor(key, act) {
    const id = `key-${rowsMade++}`;
    this.key = key;
    this.search = `${key.name} ${key.description}`.toLowerCase();
    this.control = controlOf(key, id, (value, slid) => act.set(key.name, value, slid), (value) => act.preview(key.name, value));
    this.reset = html("button", { type: "button", class: "reset", title: `Back to the preset's ${key.name}`, "aria-label": `Back to the preset's ${key.name}` }, "reset");
    this.reset.addEventListener("click", () => act.set(key.name, null));
    this.note = html("p", { class: "note", id: `${id}-note`, hidden: "" });
    const head = html("div", { class: "head" }, html("label", { for: id }, html("code", {}, key.name)), this.reset);
    this.root = html("div", { class: "row", "data-key": key.name }, head, html("div", { class: "control" }, ...this.control.parts), this.note, html("p", { class: "about" }, about(key)));
    this.control.parts[0].setAttribute("aria-describedby", `${id}-note`);
  }
  /** Shows the value that was set by hand, or else that of the presets; a number that the configuration made another as it is in effect. */
  show(byHand, effective, isKnown, preset) {
    const [asked, has] = [byHand, effective].map((text) => (text === undefined || text === "" ? NaN : Number(text)));
    this.asked = isKnown && Math.abs(asked - has) > 1e-6 * Math.abs(has) ? byHand : null;
    const value = this.asked === null ? byHand ?? effective : effective;
    this.root.classList.toggle("by-hand", byHand !== undefined);
    this.reset.hidden = byHand === undefined;
    this.control.show(value, preset);
  }
  say(message, kind = "") {
    this.note.hidden = !message;
    this.note.textContent = message;
    this.note.className = `note ${kind}`;
    this.root.classList.toggle("refused-row", kind === "wrong");
    this.control.parts[0].setAttribute("aria-invalid", String(kind === "wrong"));
  }
}
