// Durable accepts per second: one item per call from 64 callers, and batches.
import { columns, printTable, withRatios } from "../report.mjs";
import { inRounds, lanesOf } from "../rounds.mjs";

export async function accept(stage, { rounds, seconds, warmupSeconds }) {
  const lanes = lanesOf(stage, "accepts").sort((a, b) => a.items - b.items);
  const measured = await inRounds({
    title: "accept",
    rounds,
    lanes,
    async measure({ participant, list, number }) {
      await stage.makeReady(participant);
      return participant.call("acceptFor", { list, lane: number, seconds, warmupSeconds });
    },
  });
  return withRatios(measured);
}

export function printAccept(rows) {
  const { form, participant, lane, toBestPeer, toLimit, perSecond, p50, p99, spread, errors } = columns;
  const callers = ["callers", (row) => String(row.callers)];
  printTable(
    "Durable accepts a second",
    [form, participant, lane, toBestPeer, toLimit, perSecond, p50, p99, callers, spread, errors],
    rows.toSorted(byForm),
  );
}

const forms = ["single", "batch of 100", "batch of 1,000"];
const byForm = (a, b) => forms.indexOf(a.form) - forms.indexOf(b.form);
