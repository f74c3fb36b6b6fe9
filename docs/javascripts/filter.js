/* Long references get a field that leaves the rows of tables that have all of its words, with their sections. Pages ask for it by `.filtered`. */
const marked = document.querySelector(".filtered");
if (marked) {
  const sections = [[]];
  for (let part = marked.nextElementSibling; part; part = part.nextElementSibling) {
    if (part.tagName === "H2") sections.push([]);
    const rows = [...part.querySelectorAll("tbody tr")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
    sections.at(-1).push({ part, rows });
  }
  marked.className = "filter";
  marked.innerHTML = '<input type="search" aria-label="Filter" placeholder="Filter: words or parts of them"><span role="status"></span>';
  const [field, status] = marked.children;
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const section of sections) {
      for (const { row, text } of section.flatMap(({ rows }) => rows)) row.hidden = !words.every((word) => text.includes(word));
      const left = ({ rows }) => rows.filter(({ row }) => !row.hidden).length;
      const here = section.reduce((sum, part) => sum + left(part), 0);
      for (const one of section) one.part.hidden = words.length > 0 && (here === 0 || (one.rows.length > 0 && left(one) === 0));
      found += here;
    }
    status.textContent = words.length ? `${found} rows` : "";
  });
}
