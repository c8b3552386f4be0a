// The cost of each admission constraint: the remaining throughput when every item passes it.
// Peers are measured with their nearest equivalent, which is named because it is not the same.
import { columns, printTable, show } from "../report.mjs";
import { inRounds, lanesOf } from "../rounds.mjs";

export async function admission(stage, { rounds, seconds, warmupSeconds, drainItemsMax }) {
  const lanes = lanesOf(stage, "admissions");
  const accepted = await inRounds({
    title: "admission, accept",
    rounds,
    lanes: lanes.map((lane) => ({ ...lane, step: "accept" })),
    async measure({ participant, list, number }) {
      await stage.makeReady(participant, { admission: number });
      return participant.call("acceptFor", { list, lane: number, seconds, warmupSeconds });
    },
  });
  const drained = await inRounds({
    title: "admission, lease + complete",
    rounds,
    lanes: lanes.filter((lane) => lane.drains).map((lane) => ({ ...lane, step: "lease + complete" })),
    async measure({ participant, list, number }) {
      const count = Math.min(drainItemsMax, Math.round(2_000 * seconds));
      await stage.makeReady(participant, { count, admission: number });
      const limitMs = (seconds * 3 + 5) * 1000;
      const { done, tookMs } = await participant.call("drain", { list, lane: number, target: count, limitMs });
      // Each item passes its constraint, so each can be leased before the deadline.
      const errors = tookMs < limitMs ? Math.max(0, count - done) : 0;
      return { perSecond: (done * 1000) / tookMs, count: done, errors };
    },
  });
  const rows = [...accepted, ...drained];
  return rows.map((row) => {
    const alike = ({ participant, step, form }) =>
      participant === row.participant && step === row.step && form === row.form;
    const free = rows.find((each) => alike(each) && each.constraint === "none");
    return { ...row, shareOfFree: row.perSecond / free.perSecond };
  });
}

export function printAdmission(rows) {
  const { participant, lane, perSecond, spread, errors } = columns;
  printTable(
    "What is left of the throughput under each admission constraint",
    [
      participant,
      ["", (row) => `${row.step}, ${row.form}`],
      ["", (row) => row.constraint],
      lane,
      ["of free", (row) => show.percent(row.shareOfFree)],
      perSecond,
      spread,
      errors,
    ],
    rows,
  );
}
