// ---- the configuration as the part of the address after # ------------------------------------------------------
const start = JSON.parse(document.getElementById("explore").textContent);
const NAMES = ["device", "scheme", "workload", "seed", "requests", "warm_up"];
const KEEP = "keep";
const written = (choice) => {
  const link = new URLSearchParams();
  for (const name of NAMES) if (choice[name]) link.append(name, choice[name]);
  for (const key of Object.keys(choice.set).sort()) link.append(key, choice.set[key]);
  return link.toString();
};
const choiceOf = (text) => {
  const choice = { set: {} };
  for (const [name, value] of new URLSearchParams(text)) {
    if (NAMES.includes(name)) choice[name] = value;
    else if (name !== KEEP) choice.set[name] = value;
  }
  return choice;
};
/** What the page shows: the choice, and the variants that were kept, each with its label. */
const stateOf = (text) => {
  if (!text) return { choice: choiceOf(written(start.first)), kept: [] };
  const kept = new URLSearchParams(text).getAll(KEEP).map((variant) => {
    const end = variant.indexOf(":");
    return { label: variant.slice(0, Math.max(end, 0)), choice: choiceOf(variant.slice(end + 1)) };
  });
  return { choice: choiceOf(text), kept };
};
const linkOf = ({ choice, kept }) => {
  const link = new URLSearchParams(written(choice));
  for (const { label, choice: one } of kept) link.append(KEEP, `${label}:${written(one)}`);
  return link.toString();
};
