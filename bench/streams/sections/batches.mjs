// Appends of many records per call.
import { printTable, show } from "../../routing/report.mjs";
import { printAims } from "../../workflows/report.mjs";
import { inRounds } from "../../workflows/rounds.mjs";
import { nameOf, ratioAims } from "../report.mjs";

const forms = [
  { form: "1 stream, 4 callers, 100 records", streams: 1, callers: 4, size: 100 },
  { form: "1 stream, 4 callers, 1,000 records", streams: 1, callers: 4, size: 1_000 },
];

export function batches(stage, { rounds, seconds, warmupSeconds }) {
  return inRounds({
    ...{ stage, rounds, title: "batches" },
    lanesOf: ({ batches }) => (batches ? forms : []),
    measure: (participant, { streams, callers, size }) =>
      participant.call("appendBatchesFor", { streams, callers, size, seconds, warmupSeconds }),
  });
}

export function printBatches(rows) {
  printTable(
    "Appends of batches",
    [
      ["", (row) => row.form],
      ["", nameOf],
      ["records/s", (row) => show.whole(row.perSecond)],
      ["p50 ms", (row) => show.ms(row.p50Ms)],
      ["p99 ms", (row) => show.ms(row.p99Ms)],
      ["caller us", (row) => show.whole(row.cpuUs.own)],
      ["server us", (row) => show.whole(row.cpuUs.service)],
      ["database us", (row) => show.whole(row.cpuUs.database)],
      ["spread", (row) => show.ratio(row.spread)],
      ["errors", (row) => String(row.errors)],
    ],
    forms.flatMap(({ form }) => rows.filter((row) => row.form === form)),
  );
  printAims(forms.flatMap(({ form }) => ratioAims(rows, form)));
}
