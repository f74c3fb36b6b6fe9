// What is selected, and what it is linked with.
const MOST_LINKS = 200;

// The slices that belong to a slice, in groups with a heading.
function links(operations, slice) {
  const kind = operations.kind(slice), groups = [];
  if (kind === "request") {
    const request = operations.request(slice);
    groups.push({ heading: `Operations of request ${grouped(request)}`, slices: operations.ofRequest(request).filter(other => other !== slice) });
  }
  if (kind === "operation") {
    for (const request of operations.requestsOf(slice).slice(0, 20)) {
      groups.push({ heading: `Request ${grouped(request)}`, slices: operations.ofRequest(request).filter(other => operations.kind(other) === "request") });
    }
  }
  const job = operations.job(slice);
  if (kind !== "request" && job !== NONE) {
    const all = operations.ofJob(job, operations.drive(slice)).filter(other => other !== slice);
    groups.push({ heading: `GC job ${grouped(job)}`, slices: kind === "job" ? all : all.filter(other => operations.kind(other) === "job") });
  }
  return groups;
}

function showDetails(tracks, slice) {
  const operations = tracks.operations, box = $("details");
  if (slice === NONE) {
    box.replaceChildren(element("p", { className: "muted", textContent: "No slice is selected." }));
    return;
  }
  const one = element("div", {}, element("h3", { textContent: operations.name(slice) }), listed(operations.described(slice)));
  const block = operations.kind(slice) === "job" ? operations.tables.jobs.victim[operations.slices.of[slice]]
    : operations.kind(slice) === "operation" ? operations.tables.pages.block[operations.slices.page[slice]] : NONE;
  if (tracks.cells && block !== NONE) {
    const shows = element("button", { type: "button", textContent: `Block ${grouped(block)} at this moment` });
    shows.addEventListener("click", () => tracks.cells.show(operations.drive(slice), block, operations.slices.start[slice]));
    one.append(shows);
  }
  const groups = links(operations, slice).filter(({ slices }) => slices.length).map(({ heading, slices }) => {
    const buttons = slices.slice(0, MOST_LINKS).map(other => {
      const text = `${operations.name(other)}, ${operations.trackName(other)}: ${exact(operations.slices.start[other])}, ${short(operations.slices.duration[other])}`;
      const button = element("button", { type: "button", textContent: text });
      button.addEventListener("click", () => tracks.select(other));
      return button;
    });
    const rest = slices.length > MOST_LINKS ? [element("p", { className: "muted", textContent: `and ${grouped(slices.length - MOST_LINKS)} more` })] : [];
    return element("div", {}, element("h3", { textContent: `${heading}: ${grouped(slices.length)}` }), element("div", { className: "links" }, ...buttons, ...rest));
  });
  box.replaceChildren(one, element("div", {}, ...groups));
}
