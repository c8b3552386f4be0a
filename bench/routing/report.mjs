// Ratios first: every lane compared with the best durable peer and with raw SQL in the same form.

/** Adds to each row its ratio to the best durable peer and to the limit of its form. */
export function withRatios(rows) {
  return rows.map((row) => {
    const alike = rows.filter(({ form }) => form === row.form);
    const peers = alike.filter(({ kind, durable }) => kind === "peer" && durable);
    const best = peers.toSorted((a, b) => b.perSecond - a.perSecond)[0];
    const limit = alike.find(({ kind, durable }) => kind === "limit" && durable);
    return { ...row, toBestPeer: ratio(row, best), toLimit: ratio(row, limit) };
  });
}

function ratio(row, other) {
  return other === undefined ? null : row.perSecond / other.perSecond;
}

/** Prints rows as a table; columns are [heading, cell of a row], numbers right-aligned. */
export function printTable(title, columns, rows) {
  console.log(`\n${title}`);
  const table = [columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, cell]) => cell(row)))];
  const widths = columns.map((_, i) => Math.max(...table.map((cells) => cells[i].length)));
  const numeric = columns.map((_, i) => table.slice(1).every((cells) => /^[-\d.,x%]*$/.test(cells[i])));
  for (const cells of table) {
    const padded = cells.map((cell, i) => (numeric[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])));
    console.log(`  ${padded.join("  ").trimEnd()}`);
  }
}

/** Number formats of the tables. */
export const show = {
  whole: (value) => (value === undefined ? "" : Math.round(value).toLocaleString("en")),
  ms: (value) => (value === undefined ? "" : value.toFixed(value < 1 ? 2 : 1)),
  ratio: (value) => (value === undefined || value === null ? "-" : value.toFixed(2)),
  percent: (value) => (value === undefined || value === null ? "-" : `${Math.round(value * 100)}%`),
};

/** Columns that most tables share. */
export const columns = {
  form: ["", (row) => row.form],
  participant: [
    "",
    (row) => row.participant + (row.kind === "limit" ? " (limit)" : row.durable ? "" : " (not durable)"),
  ],
  lane: ["", (row) => row.name],
  toBestPeer: ["x best peer", (row) => show.ratio(row.toBestPeer)],
  toLimit: ["x raw SQL", (row) => show.ratio(row.toLimit)],
  perSecond: ["items/s", (row) => show.whole(row.perSecond)],
  p50: ["p50 ms", (row) => show.ms(row.p50Ms)],
  p99: ["p99 ms", (row) => show.ms(row.p99Ms)],
  // Maximum over minimum of the rounds: a large spread means that the machine was busy.
  spread: ["spread", (row) => show.ratio(row.spread)],
  errors: ["errors", (row) => String(row.errors)],
};
