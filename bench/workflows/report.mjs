// Tables of rates, and the aims beside what was measured.
import { printTable, show } from "../routing/report.mjs";

const ours = "Switchyard over HTTP";

/** Adds to each row how many times its rate our service over HTTP reaches in the same form. */
export function withRatios(rows) {
  return rows.map((row) => {
    const our = rows.find(({ participant, form }) => participant === ours && form === row.form);
    return { ...row, oursToIt: our === undefined ? null : our.perSecond / row.perSecond };
  });
}

/** Prints the rates of lanes, by form. */
export function printRates(title, rows) {
  const forms = [...new Set(rows.map(({ form }) => form))];
  printTable(
    title,
    [
      ["", (row) => row.form],
      ["", (row) => row.participant + (row.kind === "limit" ? " (limit)" : "")],
      ["", (row) => row.name],
      ["ours is x", (row) => show.ratio(row.oursToIt)],
      ["runs/s", (row) => show.whole(row.perSecond)],
      ["start p50 ms", (row) => show.ms(row.startP50Ms)],
      ["end p50 ms", (row) => show.ms(row.p50Ms)],
      ["end p99 ms", (row) => show.ms(row.p99Ms)],
      ["own us/run", (row) => show.whole(row.cpuUs.own)],
      ["service us/run", (row) => show.whole(row.cpuUs.service)],
      ["database us/run", (row) => show.whole(row.cpuUs.database)],
      ["spread", (row) => show.ratio(row.spread)],
      ["errors", (row) => String(row.errors)],
    ],
    forms.flatMap((form) => rows.filter((row) => row.form === form)),
  );
}

/** Prints aims: [what, aim, measured value, whether it is met]. */
export function printAims(aims) {
  if (aims.length === 0) return;
  printTable(
    "Aims",
    [
      ["", ([what]) => what],
      ["aim", ([, aim]) => aim],
      ["measured", ([, , measured]) => measured],
      ["", ([, , , isMet]) => (isMet ? "met" : "missed")],
    ],
    aims,
  );
}

/** The aims of ratios to peers, for the rows of one form. */
export function ratioAims(rows, form, aims) {
  return Object.entries(aims).flatMap(([participant, factor]) => {
    const row = rows.find((each) => each.participant === participant && each.form === form);
    if (row === undefined || row.oursToIt === null) return [];
    return [
      [`${form}, over HTTP against ${participant}`, `>= ${factor}x`, show.ratio(row.oursToIt), row.oursToIt >= factor],
    ];
  });
}
