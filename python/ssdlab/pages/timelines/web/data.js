// What the page holds: tables of typed arrays, and the slices with what belongs to them.
const data = JSON.parse($("data").textContent);

async function unpacked() {
  const text = atob($("columns").textContent);
  $("columns").remove();
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) packed[at] = text.charCodeAt(at);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const types = { Float64: Float64Array, Uint32: Uint32Array, Uint16: Uint16Array, Uint8: Uint8Array };
  const table = columns => Object.fromEntries(Object.entries(columns).map(([name, [type, at, count]]) => [name, new types[type](buffer, at, count)]));
  return Object.fromEntries(Object.entries(data.layout).map(([name, columns]) => [name, table(columns)]));
}

class Operations {
  constructor(tables, about) {
    Object.assign(this, { tables, about, slices: tables.slices });
    this.count = this.slices.start.length;
    this.byTrack = about.tracks.map(() => 0);
    for (const track of this.slices.track) this.byTrack[track]++;
    this.byTrack = this.byTrack.map(count => new Uint32Array(count));
    const filled = about.tracks.map(() => 0);
    for (let slice = 0; slice < this.count; slice++) {
      const track = this.slices.track[slice];
      this.byTrack[track][filled[track]++] = slice;
    }
    this.levels = about.levels.map(([process, name], number) => ({ process, name, ...tables[`level ${number}`] }));
  }

  word(number) { return number === NONE ? "" : this.about.words[number]; }
  name(slice) { return this.word(this.slices.name[slice]); }
  category(slice) { return this.word(this.slices.category[slice]); }
  end(slice) { return this.slices.start[slice] + this.slices.duration[slice]; }
  trackName(slice) {
    const [process, name] = this.about.tracks[this.slices.track[slice]];
    return `${this.about.processes[process]}: ${name}`;
  }
  process(slice) { return this.about.processes[this.about.tracks[this.slices.track[slice]][0]]; }
  kind(slice) {
    if (this.slices.of[slice] === NONE) return "operation";
    return this.process(slice) === "requests" ? "request" : "job";
  }
  pages(slice) {
    const from = this.slices.page[slice];
    return Array.from({ length: this.slices.pages[slice] }, (_, at) => from + at);
  }
  request(slice) { return this.kind(slice) === "request" ? this.tables.requests.number[this.slices.of[slice]] : NONE; }
  job(slice) { return this.kind(slice) === "job" ? this.tables.jobs.number[this.slices.of[slice]] : this.slices.job[slice]; }
  drive(slice) { return /^drive \d+/.exec(this.process(slice))?.[0] ?? ""; }

  // Slices for which a test of the slice or of one of its pages holds, in order of time.
  where(ofSlice, ofPage) {
    const found = [];
    const { page, pages, of } = this.slices;
    for (let slice = 0; slice < this.count; slice++) {
      let holds = ofSlice(slice);
      if (of[slice] === NONE) for (let at = page[slice]; !holds && at < page[slice] + pages[slice]; at++) holds = ofPage(at);
      if (holds) found.push(slice);
    }
    return found;
  }
  ofRequest(number) {
    const { request } = this.tables.pages, { request: merged, slice: into } = this.tables.merged;
    const joined = new Set(Array.from(into).filter((_, at) => merged[at] === number));
    return this.where(slice => joined.has(slice) || this.request(slice) === number, page => request[page] === number);
  }
  ofJob(number, drive) {
    const all = this.where(slice => this.job(slice) === number && this.kind(slice) !== "request" && (drive === undefined || this.drive(slice) === drive), () => false);
    // its first operation may begin at the same instant
    return [...all.filter(slice => this.kind(slice) === "job"), ...all.filter(slice => this.kind(slice) !== "job")];
  }
  ofBlock(number) {
    const { block, to_block } = this.tables.pages, { victim } = this.tables.jobs;
    return this.where(slice => this.kind(slice) === "job" && victim[this.slices.of[slice]] === number, page => block[page] === number || to_block[page] === number);
  }
  // Requests that an operation works for.
  requestsOf(slice) {
    const { request: merged, slice: into } = this.tables.merged;
    const joined = Array.from(merged).filter((_, at) => into[at] === slice);
    const own = this.kind(slice) === "operation" ? this.pages(slice).map(page => this.tables.pages.request[page]).filter(number => number !== NONE) : [];
    return [...new Set([...own, ...joined])];
  }

  // Everything about a slice, as pairs of texts.
  described(slice) {
    const kind = this.kind(slice), { start, duration } = this.slices;
    const pairs = [["kind", this.name(slice)], ["caused by", this.category(slice)], ["track", this.trackName(slice)]];
    pairs.push(["begin", exact(start[slice])], ["end", exact(this.end(slice))], ["duration", exact(duration[slice])]);
    if (kind === "request") pairs.push(...this.describedRequest(this.slices.of[slice]));
    if (kind === "job") {
      const { number, pool, victim, valid } = this.tables.jobs, job = this.slices.of[slice];
      pairs.push(["job", grouped(number[job])], ["pool", grouped(pool[job])], ["victim block", grouped(victim[job])], ["valid pages", grouped(valid[job])]);
    }
    if (kind === "operation" && this.slices.job[slice] !== NONE) pairs.push(["job", grouped(this.slices.job[slice])]);
    const merged = this.requestsOf(slice).filter(request => !this.pages(slice).some(page => this.tables.pages.request[page] === request));
    if (kind === "operation") this.pages(slice).forEach(page => pairs.push(...this.describedPage(page)));
    if (merged.length) pairs.push(["merged request", merged.map(grouped).join(", ")]);
    return pairs;
  }
  describedRequest(request) {
    const { number, offset, bytes, arrival, response, blocked_by, flow } = this.tables.requests;
    const pairs = [["request", grouped(number[request])], ["offset", `${grouped(offset[request])} bytes`], ["length", `${grouped(bytes[request])} bytes`]];
    if (flow[request] !== NONE) pairs.push(["flow", this.word(flow[request])]);
    pairs.push(["arrival", exact(arrival[request])], ["response time", response[request] < 0 ? "not complete in the recording" : exact(response[request])]);
    if (blocked_by[request] !== NONE) pairs.push(["longest wait for", this.word(blocked_by[request])]);
    return pairs;
  }
  describedPage(page) {
    const pages = this.tables.pages, inBlock = data.blocks?.pages;
    const place = (ppn, block) => `${grouped(ppn)}, in block ${grouped(block)}${inBlock ? `, page ${ppn % inBlock} of it` : ""}`;
    const pairs = [];
    if (pages.request[page] !== NONE) pairs.push(["request", grouped(pages.request[page])]);
    if (pages.for[page] !== NONE) pairs.push(["for", this.word(pages.for[page])]);
    if (pages.lpn[page] !== NONE) pairs.push(["logical page", grouped(pages.lpn[page])]);
    if (pages.ppn[page] !== NONE) pairs.push(["physical page", place(pages.ppn[page], pages.block[page])]);
    else if (pages.block[page] !== NONE) pairs.push(["block", grouped(pages.block[page])]);
    if (pages.to_ppn[page] !== NONE) pairs.push(["moved to page", place(pages.to_ppn[page], pages.to_block[page])]);
    if (pages.pool[page] !== NONE) pairs.push(["pool", grouped(pages.pool[page])]);
    return pairs;
  }
}
