// From the start of an append until subscribers have its record.
import { printTable, show } from "../../routing/report.mjs";
import { printAims } from "../../workflows/report.mjs";
import { nameOf } from "../report.mjs";

const formOf = (subscribers) =>
  subscribers === 1 ? "1 subscriber" : `${subscribers.toLocaleString("en")} subscribers`;

export async function latency(stage, { audiences }) {
  const rows = [];
  for (const participant of stage.names()) {
    await stage.measure(participant, async ({ kind, follows, call }) => {
      if (!follows) return;
      for (const { subscribers, records } of audiences) {
        process.stderr.write(`latency: ${participant}, ${formOf(subscribers)}\n`);
        const result = await call("followFor", { subscribers, records });
        rows.push({ participant, kind, form: formOf(subscribers), subscribers, ...result });
      }
    });
  }
  return rows;
}

export function printLatency(rows) {
  const forms = [...new Set(rows.map(({ form }) => form))];
  printTable(
    "From the append to a subscriber; one record at a time",
    [
      ["", (row) => row.form],
      ["", nameOf],
      ["p50 ms", (row) => show.ms(row.p50Ms)],
      ["p99 ms", (row) => show.ms(row.p99Ms)],
      ["last p50 ms", (row) => show.ms(row.lastP50Ms)],
      ["append p50 ms", (row) => show.ms(row.appendP50Ms)],
      ["server us/record", (row) => show.whole(row.cpuUs)],
      ["encodes/record", (row) => show.ratio(row.encodesPerRecord)],
      ["sent/record", (row) => show.whole(row.sentPerRecord)],
    ],
    forms.flatMap((form) => rows.filter((row) => row.form === form)),
  );
  const counted = rows.filter(({ encodesPerRecord }) => encodesPerRecord !== undefined);
  printAims(
    counted.map(({ form, encodesPerRecord }) => [
      ...[`${form}: encodes of a record`, "1"],
      ...[show.ratio(encodesPerRecord), encodesPerRecord <= 1],
    ]),
  );
}
