// The latency of a decision that stores nothing, for small and large pools with few and many rules.
// No peer decides which recipient gets an item, so the only reference is a constant response over the same connection.
import { columns, printTable, show } from "../report.mjs";
import { inRounds } from "../rounds.mjs";

export async function decide(stage, { rounds, seconds, warmupSeconds, recipients, rules }) {
  const lanes = [];
  for (const participant of stage.present) {
    const prepared = await participant.call("prepareDecides", { recipients, rules });
    lanes.push(...prepared.map((lane, number) => ({ participant, list: "deciding", number, ...lane })));
  }
  const rows = await inRounds({
    title: "decide",
    rounds,
    lanes,
    measure: ({ participant, list, number }) =>
      participant.call("acceptFor", { list, lane: number, seconds: Math.min(seconds, 3), warmupSeconds }),
  });
  return rows.map((row) => {
    const limit = rows.find(({ kind, callers }) => kind === "limit" && callers === row.callers);
    return { ...row, p50ToLimit: row.p50Ms / limit.p50Ms, p99ToLimit: row.p99Ms / limit.p99Ms };
  });
}

export function printDecide(rows) {
  const { participant, lane, perSecond, p50, p99, spread, errors } = columns;
  printTable(
    "Latency of a decision that stores nothing",
    [
      participant,
      lane,
      ["recipients", (row) => row.recipients?.toLocaleString("en") ?? ""],
      ["rules", (row) => row.rules?.toLocaleString("en") ?? ""],
      ["callers", (row) => String(row.callers)],
      ["p50 x bare", (row) => show.ratio(row.p50ToLimit)],
      ["p99 x bare", (row) => show.ratio(row.p99ToLimit)],
      p50,
      p99,
      ["decisions/s", perSecond[1]],
      spread,
      errors,
    ],
    rows,
  );
}
