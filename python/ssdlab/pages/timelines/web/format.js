// Texts and colours.
const $ = id => document.getElementById(id);
const NONE = 4294967295;
const grouped = number => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const unit = ns => UNITS.find(([size]) => Math.abs(ns) >= size) ?? UNITS[3];
// A time in the unit that fits, exact to the nanosecond.
const exact = ns => {
  const whole = Math.round(ns), [size, name] = unit(whole);
  const rest = size > 1 ? String(whole % size).padStart(Math.log10(size), "0").replace(/0+$/, "") : "";
  return `${grouped(Math.floor(whole / size))}${rest && `.${rest}`} ${name}`;
};
// A time of a window, as exact as its width needs.
const placed = (ns, span) => {
  const [size, name] = unit(ns);
  return `${(ns / size).toFixed(Math.min(Math.max(Math.ceil(Math.log10(size / span)) + 2, 0), Math.log10(size)))} ${name}`;
};
// A duration in three digits.
const short = ns => {
  const [size, name] = unit(ns);
  return `${Number((ns / size).toPrecision(3))} ${name}`;
};
const value = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = colour => {
  const hex = colour.slice(1);
  return [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16));
};
const mixed = (from, to, share) => from.map((part, at) => Math.round(part + (to[at] - part) * share));
// The value of a variable that may refer to another one.
const colourOf = name => {
  const found = value(name), other = /^var\((--[\w-]+)\)$/.exec(found);
  return other ? value(other[1]) : found;
};
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
const listed = pairs => element("dl", {}, ...pairs.flatMap(([what, text]) => [element("dt", { textContent: what }), element("dd", { textContent: text })]));
function tip(at, pairs) {
  const box = $("tip");
  box.hidden = !pairs;
  if (!pairs) return;
  box.replaceChildren(listed(pairs));
  const { width, height } = box.getBoundingClientRect();
  const left = at.clientX + 14 + width > innerWidth ? at.clientX - width - 14 : at.clientX + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, Math.min(at.clientY + 14, innerHeight - height - 4))}px`;
}
// The index of the first entry for which `is` holds; entries before it do not.
function first(count, is) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (is(middle)) high = middle; else low = middle + 1;
  }
  return low;
}
