// Slices by the number of a request, a job or a block.
class Search {
  constructor(tracks) {
    Object.assign(this, { tracks, found: [], at: 0 });
    $("search").addEventListener("submit", event => {
      event.preventDefault();
      this.find($("search-kind").value, $("search-number").value);
    });
    $("search-back").addEventListener("click", () => this.go(this.at - 1));
    $("search-on").addEventListener("click", () => this.go(this.at + 1));
  }
  find(kind, text) {
    const number = Number(text.replace(/[,\s]/g, ""));
    this.found = [];
    if (!/\d/.test(text) || !Number.isInteger(number) || number < 0) {
      this.tell(`"${text}": expected a whole number`);
      return;
    }
    const { operations } = this.tracks;
    this.found = { request: () => operations.ofRequest(number), job: () => operations.ofJob(number), block: () => operations.ofBlock(number) }[kind]();
    const name = kind === "job" ? "GC job" : kind;
    this.label = `${name} ${grouped(number)}`;
    if (!this.found.length) this.tell(`no slice of ${this.label} in this recording`);
    else this.go(0);
  }
  go(at) {
    this.at = (at + this.found.length) % this.found.length;
    this.tracks.select(this.found[this.at], true);
    this.tell(`${this.label}: slice ${grouped(this.at + 1)} of ${grouped(this.found.length)}`);
  }
  tell(text) {
    $("search-found").textContent = text;
    $("search-back").disabled = $("search-on").disabled = this.found.length < 2;
  }
}
