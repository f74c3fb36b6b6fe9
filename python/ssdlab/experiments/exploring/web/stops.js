// ---- the values at which a slider stops ------------------------------------------------------------------------
const FINE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
const AROUND = 1000; // how far a slider reaches from the value that presets give, as a factor
const MOST_STEPS = 128;
const short = (value) => Number(value.toPrecision(6));
const series = (low, high, whole) => {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
    for (const factor of FINE) found.push(short(factor * 10 ** power));
  }
  return found.filter((value) => value >= low && value <= high && (!whole || Number.isInteger(value)));
};
const powersOfTwo = (low, high) => {
  const found = [];
  for (let value = 512; value <= high; value *= 2) if (value >= low) found.push(value);
  return found;
};
/** Of a key with a range, around the value that presets give (NaN for none): every value of a short one, hundredths of a share, powers of two of sizes, else a logarithmic scale. */
const stopsOf = ({ kind, minimum: low, maximum: high = Number.MAX_SAFE_INTEGER, unit }, preset) => {
  const whole = kind === "integer";
  const evenly = (steps) => Array.from({ length: steps + 1 }, (_, step) => short(low + ((high - low) * step) / steps));
  if (whole && high - low <= MOST_STEPS) return evenly(high - low);
  if (!whole && high <= 1) return evenly(100);
  const anchor = preset > 0 ? preset : 1;
  const from = Math.max(low, anchor / AROUND, whole ? 1 : 0);
  const to = Math.min(high, Math.max(anchor * AROUND, preset > 0 ? 0 : 1e6));
  const found = unit === "bytes" ? powersOfTwo(from, preset > 0 ? to : high) : series(from, to, whole);
  return [...new Set([...(low <= 0 ? [low] : []), ...found, ...(Number.isFinite(preset) ? [preset] : [])])].sort((one, other) => one - other);
};
const nearest = (stops, value) => {
  let best = 0;
  stops.forEach((stop, index) => { if (Math.abs(stop - value) < Math.abs(stops[best] - value)) best = index; });
  return best;
};
