// Appends of one record per call.
import { printTable, show } from "../../routing/report.mjs";
import { printAims } from "../../workflows/report.mjs";
import { inRounds } from "../../workflows/rounds.mjs";
import { nameOf, ratioAims } from "../report.mjs";

const forms = [
  { form: "1 stream, 64 callers", streams: 1, callers: 64 },
  { form: "100 streams, 64 callers", streams: 100, callers: 64 },
  { form: "1 stream, 1,000 callers", streams: 1, callers: 1_000 },
];

export function appends(stage, { rounds, seconds, warmupSeconds }) {
  return inRounds({
    ...{ stage, rounds, title: "appends" },
    lanesOf: () => forms,
    measure: (participant, { streams, callers }) =>
      participant.call("appendFor", { streams, callers, seconds, warmupSeconds }),
  });
}

export function printAppends(rows) {
  printTable(
    "Appends, one record per call",
    [
      ["", (row) => row.form],
      ["", nameOf],
      ["appends/s", (row) => show.whole(row.perSecond)],
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
