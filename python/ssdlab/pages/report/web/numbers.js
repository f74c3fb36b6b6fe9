// ---- numbers for people ----------------------------------------------------------------------------------------
const DURATIONS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const grouped = (value, digits) => value.toLocaleString("en-US", { maximumFractionDigits: digits });
const durationUnit = (ns) => DURATIONS.findLast(([size]) => Math.abs(ns) >= size * (1 - 1e-9)) ?? DURATIONS[0];
const significant = (value, digits) => {
  if (value === 0) return "0";
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return places > 12 ? value.toExponential(digits - 1) : grouped(value, places);
};
const SIZES = [[1, "bytes"], [2 ** 10, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]];
const SHOW = {
  ns: (value) => {
    const [size, unit] = durationUnit(value);
    return `${significant(value / size, 3)} ${unit}`;
  },
  share: (value) => `${significant(value * 100, 3)} %`,
  count: (value) => (Number.isInteger(value) ? grouped(value, 0) : significant(value, 3)),
  per_s: (value) => `${significant(value, 3)}/s`,
  bytes: (value) => {
    const [size, unit] = SIZES.findLast(([size]) => Math.abs(value) >= size) ?? SIZES[0];
    return `${significant(value / size, 3)} ${unit}`;
  },
};
/** A function that writes the ticks of an axis; all in one unit, except on a logarithmic axis. */
const tickText = (axis, high, step) => {
  if (axis.unit === "ns" && !axis.log) {
    const [size, unit] = durationUnit(high);
    const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
    return (value) => `${grouped(value / size, digits)} ${unit}`;
  }
  if (axis.unit === "ns") return (value) => SHOW.ns(value);
  if (axis.unit === "share") return (value) => `${significant(value * 100, 3)} %`;
  const kilo = high >= 1e6 ? [1e6, "M"] : high >= 1e4 ? [1e3, "k"] : [1, ""];
  return (value) => `${significant(value / kilo[0], 4)}${value ? kilo[1] : ""}`;
};
