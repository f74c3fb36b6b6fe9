// ---- heat maps -------------------------------------------------------------------------------------------------
const isDark = () => getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";
const RAMP = () => data.shades[isDark() ? "dark" : "light"];
const rgb = (shade) => [1, 3, 5].map((at) => parseInt(shade.slice(at, at + 2), 16));
/** The shares of a heat map, in 65535ths, row by row. */
const cells = (mark) => {
  if (!mark.cells) {
    const bytes = Uint8Array.from(atob(mark.shares), (letter) => letter.charCodeAt(0));
    mark.cells = Uint16Array.from({ length: bytes.length / 2 }, (_, index) => bytes[2 * index] | (bytes[2 * index + 1] << 8));
  }
  return mark.cells;
};
/** What a row of a heat map is: of an array, which drive and which chip of it; a row may stand for several. */
const placeOf = (mark, row) => {
  const each = mark.things / mark.drives;
  const first = row * mark.per_row;
  const last = Math.min(first + mark.per_row, mark.things) - 1; // the last row may stand for fewer
  const range = (low, high) => (high > low ? `${low} to ${high}` : `${low}`);
  const [from, to] = [Math.floor(first / each), Math.floor(last / each)];
  if (mark.drives === 1) return { [mark.row]: range(first, last) };
  if (to > from) return { drive: range(from, to), [mark.row]: `${first % each} to ${last % each}` };
  return { drive: `${from}`, [mark.row]: range(first % each, last % each) };
};
const nameOf = (mark, row) =>
  Object.entries(placeOf(mark, row))
    .map(([thing, which]) => `${thing}${which.includes(" ") ? "s" : ""} ${which}`)
    .join(", ");
/** The picture of a heat map with so many bins joined to one, by their mean. */
const shades = (mark, each) => {
  const dark = isDark();
  if (mark.picture?.dark === dark && mark.picture.each === each) return mark.picture.url;
  const ramp = RAMP().map(rgb);
  const columns = Math.ceil(mark.bins / each);
  const canvas = html("canvas", { width: columns, height: mark.rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, mark.rows);
  for (let index = 0; index < columns * mark.rows; index++) {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const bins = cells(mark).subarray(row * mark.bins + column * each, row * mark.bins + Math.min((column + 1) * each, mark.bins));
    const share = bins.reduce((sum, bin) => sum + bin, 0) / bins.length / 65535;
    // Whatever is not nothing is seen: the ramp begins at its second shade.
    const place = share ? 1 + Math.min(share / mark.most, 1) * (ramp.length - 2) : 0;
    const [low, part] = [Math.floor(place), place % 1];
    const [from, to] = [ramp[low], ramp[Math.min(low + 1, ramp.length - 1)]];
    for (const channel of [0, 1, 2]) image.data[4 * index + channel] = from[channel] + (to[channel] - from[channel]) * part;
    image.data[4 * index + 3] = share ? 255 : 0;
  }
  context.putImageData(image, 0, 0);
  mark.picture = { dark, each, url: canvas.toDataURL() };
  return mark.picture.url;
};
