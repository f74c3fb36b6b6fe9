// ---- the panel with presets and keys ---------------------------------------------------------------------------
const TITLES = {
  device: "Device", ftl: "Mapping and preparation (FTL)", gc: "Garbage collection", scheduler: "Scheduler", cache: "Cache", buffer: "Write buffer",
  host: "Host interface", array: "Array of drives", workload: "Workload",
};
const OPTIONS = { seed: "of all random streams", requests: "such as 20k", warm_up: "such as 500ms or 2k" };
class Panel {
  /** `act` has what a change calls: `set` and `preview` of a key, and `choose` of a preset or an option. */
  constructor(act) {
    this.values = {}; // effective ones of the last valid configuration, by key
    this.usual = {}; // those that presets give, by key, as numbers
    this.given = {}; // the same as texts
    this.fields = new Map();
    this.sections = [];
    const keys = start.keys.filter(({ description }) => !description.startsWith(start.trace ? "Generated" : "Trace"));
    const matter = start.matter.map((name) => keys.find((key) => key.name === name)).filter(Boolean);
    this.presets(act);
    this.section("Keys that matter most", matter, act, true);
    for (const name of new Set(keys.map((key) => key.name.split(".")[0]))) {
      this.section(TITLES[name] ?? name, keys.filter((key) => key.name.startsWith(`${name}.`)), act, false);
    }
    this.rows = this.sections.flatMap(({ rows }) => rows);
    this.find = document.getElementById("find");
    this.find.addEventListener("input", () => this.filter());
    this.find.addEventListener("keydown", (event) => { if (event.key === "Escape") { this.find.value = ""; this.filter(); } });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
      event.preventDefault();
      this.find.focus();
    });
  }
  presets(act) {
    const place = document.getElementById("presets");
    const add = (name, control, hint) => {
      control.id = `preset-${name}`;
      const note = html("p", { class: "note", hidden: "" });
      const told = html("p", { class: "about" }, hint);
      control.addEventListener("change", () => act.choose(name, control.value.trim()));
      place.append(html("div", { class: "row" }, html("label", { for: control.id }, name.replace("_", "-")), control, told, note));
      this.fields.set(name, { control, note, told });
    };
    for (const [name, choices] of Object.entries(start.presets)) {
      if (name === "workload" && start.trace) {
        place.append(html("p", { class: "about" }, `Trace: ${start.trace}`));
        continue;
      }
      const list = html("datalist", { id: `list-${name}` }, ...choices.map(([value, told]) => html("option", { value }, told)));
      place.append(list);
      add(name, html("input", { list: list.id, placeholder: "default", autocomplete: "off", spellcheck: "false" }), "");
    }
    for (const [name, hint] of Object.entries(OPTIONS)) add(name, html("input", { class: "number", autocomplete: "off", placeholder: name === "requests" ? (start.trace ? "all" : "100000") : "" }), hint);
  }
  section(title, keys, act, open) {
    const rows = keys.map((key) => new Row(key, act));
    const count = html("span", { class: "muted small" });
    const root = html("details", {}, html("summary", {}, title, " ", count), ...rows.map((row) => row.root));
    root.open = open;
    document.getElementById("keys").append(root);
    this.sections.push({ root, rows, count, open });
  }
  /** Hides the keys that do not have all words of the search box in name or description. */
  filter() {
    const words = this.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = new Set();
    for (const section of this.sections) {
      for (const row of section.rows) {
        row.root.hidden = !words.every((word) => row.search.includes(word));
        if (!row.root.hidden) found.add(row.key.name);
      }
      const any = section.rows.some((row) => !row.root.hidden);
      // what is found is shown once, in its own section
      section.root.hidden = words.length ? !any || section.open : false;
      section.root.open = words.length ? any : section.open;
    }
    document.getElementById("found").textContent = words.length ? `${found.size} of ${new Set(this.rows.map((row) => row.key.name)).size} keys` : "";
  }
  /** Whether a value is the one that presets give. */
  isUsual(name, value) {
    const usual = this.given[name];
    return value !== null && usual !== undefined && usual !== "" && (value === usual || (value !== "" && Number(value) === Number(usual)));
  }
  /** Shows a choice, with the effective values of its configuration, and those that presets give, if they are known. */
  show(choice, values, usual) {
    if (usual) this.given = usual;
    for (const [key, value] of Object.entries(values ?? {})) {
      this.values[key] = value;
      if (choice.set[key] === undefined) this.usual[key] = value === "" ? NaN : Number(value);
    }
    for (const row of this.rows) {
      const { name, default: usual } = row.key;
      row.show(choice.set[name], (values ? this.values : { ...this.values, ...this.given })[name] ?? "", Boolean(values), this.usual[name] ?? (typeof usual === "number" ? usual : NaN));
    }
    for (const [name, { control, told }] of this.fields) {
      control.value = choice[name] ?? "";
      if (!start.presets[name]) continue;
      const known = new Map(start.presets[name]);
      told.textContent = (choice[name] ?? "").split("+").map((one) => known.get(one.trim())).filter(Boolean).join(" ");
    }
    for (const { rows, count, open } of this.sections) {
      const changed = rows.filter((row) => choice.set[row.key.name] !== undefined).length;
      count.textContent = open ? "" : `${rows.length}${changed ? `, ${changed} changed` : ""}`;
    }
  }
  /** Says what has no effect, and what it needs. */
  idle(needs) {
    this.clear();
    for (const row of this.rows) {
      if (needs[row.key.name]) row.say(`No effect: it needs ${needs[row.key.name]}.`);
      else if (row.asked !== null) row.say(`${row.asked} was asked for; the drive has the value above.`);
    }
  }
  clear() {
    for (const row of this.rows) row.say("");
    for (const { note } of this.fields.values()) note.hidden = true;
    document.getElementById("refused").hidden = true;
  }
  /** Says an error beside the key, preset or option that it is about, or above all. */
  refuse(key, message) {
    this.clear();
    for (const row of this.rows.filter((one) => one.key.name === key)) row.say(message, "wrong");
    const field = this.fields.get(key);
    if (field) Object.assign(field.note, { hidden: false, textContent: message, className: "note wrong" });
    const general = document.getElementById("refused");
    general.hidden = false;
    general.textContent = field || this.rows.some((row) => row.key.name === key && row.root.offsetParent) ? `${key} cannot be simulated like this; the figures are of the last configuration that can.` : message;
  }
}
