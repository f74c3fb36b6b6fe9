// ---- axes ------------------------------------------------------------------------------------------------------
const roundStep = (rough) => {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => rough <= factor * power * 1.0001);
};
const linearTicks = (low, high, wanted) => {
  const step = roundStep((high - low) / Math.max(wanted, 1));
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) ticks.push(n * step + 0);
  return { ticks, step };
};
const logTicks = (low, high, wanted) => {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const skip = Math.max(1, Math.ceil(Math.log10(high / low) / Math.max(wanted, 1)));
  let found = [];
  for (const factors of skip > 1 ? [[1]] : [[1, 2, 5], [1, 3], [1]]) {
    found = [];
    for (let power = first; power <= last; power++) {
      if (power % skip) continue;
      found.push(...factors.map((factor) => Number((factor * 10 ** power).toPrecision(3))));
    }
    found = found.filter((value) => value >= low * 0.9999 && value <= high * 1.0001);
    if (found.length <= wanted * 1.4) break;
  }
  return found.length >= 2 ? { ticks: found, step: 0 } : linearTicks(low, high, Math.min(wanted, 3));
};
class Scale {
  constructor(axis, low, high, from, to) {
    Object.assign(this, { axis, low, high, from, to });
    this.place = axis.log ? Math.log : (value) => value;
    this.unit = (to - from) / (this.place(high) - this.place(low) || 1);
  }
  at(value) {
    const bounded = this.axis.log ? Math.max(value, this.low / 1e6) : value;
    return this.from + (this.place(bounded) - this.place(this.low)) * this.unit;
  }
  value(pixel) {
    const place = this.place(this.low) + (pixel - this.from) / this.unit;
    return this.axis.log ? Math.exp(place) : place;
  }
  ticks(wanted) {
    return (this.axis.log ? logTicks : linearTicks)(this.low, this.high, wanted);
  }
}
