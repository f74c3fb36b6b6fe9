// ---- the page: each change is a step of the browser's history, and is run by the server -----------------------------
const element = (id) => document.getElementById(id);
const PREVIEW_MS = 120; // how long a slider rests before the sample is run
const ONE_MOVE_MS = 1500; // steps of a slider within this time are one of the history
let state = stateOf(location.hash.slice(1));
let last = { key: null, at: 0 }; // the last change
let asked = 0; // requests sent, of which only the last is answered
let sent = {}; // the last request
let texts = {}; // what can be copied
let good = null; // the last choice whose figures were shown: what a change is compared with
let timer = null;
let typing = false; // whether the label of a variant is being typed, which no suggestion replaces
let figuresOf = ""; // what the figures are of, in words

const address = new URL("socket", location.href);
address.protocol = "ws:";
const socket = new WebSocket(address);
/** Asks for the runs of a choice; `before` is the link of the one that it is compared with, if any. */
const ask = (now, before, whole) => {
  clearTimeout(timer);
  if (socket.readyState !== WebSocket.OPEN) return;
  asked += 1;
  sent = { now, whole };
  document.documentElement.dataset.asked = asked;
  socket.send(JSON.stringify({ id: asked, now, before: before == null ? null : choiceOf(before), kept: state.kept, whole }));
};
const working = (stage, share) => {
  element("stage").textContent = stage;
  element("stop").hidden = element("progress").hidden = share === null;
  if (share) element("progress").value = share;
  else element("progress").removeAttribute("value");
};
/** Takes a new state as a step of the history. `before` is the choice that figures are compared with. */
const step = (next, before, { replaced = false } = {}) => {
  history[replaced ? "replaceState" : "pushState"]({ before }, "", `#${linkOf(next)}`);
  arrive(next);
};
/** Shows a state and asks for its runs. */
const arrive = (next) => {
  state = next;
  panel.show(state.choice);
  showKept();
  ask(state.choice, history.state?.before, true);
};
/** Takes a choice; `key` is that of a slider, whose steps shortly after each other are one. */
const change = (choice, key = null) => {
  if (written(choice) === written(state.choice)) { arrive(state); return; }
  const replaced = key !== null && last.key === key && Date.now() - last.at < ONE_MOVE_MS && history.state?.before !== undefined;
  last = { key, at: Date.now() };
  step({ ...state, choice }, replaced ? history.state.before : good, { replaced });
};
const withKey = (name, value) => {
  const set = { ...state.choice.set };
  delete set[name];
  if (value !== null && value !== "") set[name] = value;
  return { ...state.choice, set };
};
const panel = new Panel({
  set: (name, value, slid) => change(withKey(name, panel.isUsual(name, value) ? null : value), slid ? name : null),
  choose: (name, value) => change({ ...state.choice, [name]: value }),
  preview: (name, value) => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(withKey(name, value), good ?? written(state.choice), false), PREVIEW_MS);
  },
});

// -- variants that are kept
const showKept = () => {
  const list = element("kept");
  list.replaceChildren(...state.kept.map(({ label, choice }, index) => {
    const load = html("button", { type: "button", title: written(choice) }, label);
    load.addEventListener("click", () => change(choice));
    const drop = html("button", { type: "button", "aria-label": `Remove ${label}` }, "remove");
    drop.addEventListener("click", () => step({ ...state, kept: state.kept.filter((_, one) => one !== index) }, history.state?.before));
    return html("li", {}, load, drop);
  }));
};
const LONGEST = Number(element("label").maxLength);
/** A label that no other variant has: the scheme or device, and as many of the keys set by hand as there is room for. */
const suggested = () => {
  const { set, scheme, device } = state.choice;
  const taken = ["now", "before", ...state.kept.map(({ label }) => label)];
  let name = scheme || device || "default";
  for (const [key, value] of Object.entries(set)) {
    const longer = `${name} ${key.split(".").pop()}=${value}`;
    if (longer.length <= LONGEST - 3) name = longer;
  }
  name = name.slice(-LONGEST + 3).replaceAll(":", " ");
  let label = name;
  for (let number = 2; taken.includes(label); number++) label = `${name} ${number}`;
  return label;
};
element("keep").addEventListener("submit", (event) => {
  event.preventDefault();
  const label = element("label").value.trim() || suggested();
  const refused = label.includes(":") ? "a label has no colon" : state.kept.some((one) => one.label === label) || ["now", "before"].includes(label) ? "another variant has this label" : "";
  element("label").setCustomValidity(refused);
  typing = Boolean(refused);
  if (refused) element("label").reportValidity();
  else step({ ...state, kept: [...state.kept, { label, choice: state.choice }] }, history.state?.before);
});
element("label").addEventListener("input", () => {
  typing = Boolean(element("label").value);
  element("label").setCustomValidity("");
});

// -- what is copied
document.addEventListener("click", async ({ target }) => {
  const { copy } = target.dataset;
  if (!copy) return;
  const content = copy === "link" ? location.href : texts[copy];
  const name = target.textContent;
  try {
    await navigator.clipboard.writeText(content);
    target.textContent = "Copied";
    setTimeout(() => (target.textContent = name), 1500);
  } catch {
    if (copy === "link") return;
    element("commands").open = true;
    getSelection().selectAllChildren(element(copy));
  }
});

// -- what the server says
const PERCENT = (share) => (share ? ` ${Math.floor(share * 100)} %` : "");
const answers = {
  config: ({ values, usual, idle, command, compare, change: difference }) => {
    panel.show(sent.now, values, usual);
    panel.idle(idle);
    if (!typing) element("label").value = suggested();
    element("keep").querySelector("button").disabled = false;
    texts = { command, compare };
    for (const name of ["command", "compare"]) {
      element(name).textContent = texts[name];
      element(name).hidden = document.querySelector(`[data-copy="${name}"]`).hidden = !texts[name];
    }
    element("change").textContent = difference ? `Changed: ${difference}.` : "";
    working("Begins", 0);
  },
  progress: ({ sampled, phase, share }) => working(`${sampled ? "Sample" : "Whole run"}: ${phase}${PERCENT(share)}`, share),
  shown: ({ sampled, digest, ...parts }) => {
    if (sent.whole) good = written(sent.now);
    present(parts);
    document.documentElement.dataset.digest = digest;
    document.documentElement.dataset.shown = `${asked} ${sampled ? "sample" : "whole"}`;
    const first = `a sample: the first ${sampled.toLocaleString("en-US")} requests${sent.now.warm_up ? ", warm-up included" : ""}`;
    figuresOf = `Figures of ${sampled ? first : "the whole run"}`;
    working(figuresOf, sampled && sent.whole ? 0 : null);
  },
  refused: ({ key, message }) => {
    element("keep").querySelector("button").disabled = true;
    panel.refuse(key, message);
    document.documentElement.dataset.shown = `${asked} refused`;
    working(["Not run", figuresOf].filter(Boolean).join(". "), null);
  },
};
socket.addEventListener("message", (event) => {
  const { id, kind, ...told } = JSON.parse(event.data);
  if (id === asked) answers[kind](told);
});
socket.addEventListener("open", () => arrive(state));
socket.addEventListener("close", () => {
  working("The server has ended. Start `ssdlab explore` again, and add the part of this address from # on to its address.", null);
  document.body.classList.add("ended");
});
element("stop").addEventListener("click", () => {
  asked += 1;
  socket.send("null");
  working(["Stopped", figuresOf].filter(Boolean).join(". "), null);
});
addEventListener("popstate", () => {
  last = { key: null, at: 0 };
  arrive(stateOf(location.hash.slice(1)));
});
document.documentElement.dataset.drawn = "yes";
