// The part of the recording that is shown. Those who draw it are called once a frame after it has changed.
const NARROWEST = 8;
class View {
  constructor(begin, end) {
    Object.assign(this, { begin, end: Math.max(end, begin + NARROWEST), listeners: [], due: false });
    [this.from, this.to] = [this.begin, this.end];
  }
  get span() { return this.to - this.from; }
  set(from, to) {
    const span = Math.min(Math.max(to - from, NARROWEST), this.end - this.begin);
    from = Math.min(Math.max(to - from < span ? (from + to - span) / 2 : from, this.begin), this.end - span);
    [this.from, this.to] = [from, from + span];
    this.changed();
  }
  zoom(factor, at = (this.from + this.to) / 2) { this.set(at - (at - this.from) * factor, at + (this.to - at) * factor); }
  move(share) { this.set(this.from + share * this.span, this.to + share * this.span); }
  show(begin, end) {
    const margin = Math.max((end - begin) * .15, 20);
    this.set(begin - margin, end + margin);
  }
  changed() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.listeners.forEach(listener => listener());
    });
  }
}
