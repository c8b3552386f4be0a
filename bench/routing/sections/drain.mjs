// Lease + complete per second, with 1, 4 and 16 workers, one item at a time and in batches.
import { columns, printTable, withRatios } from "../report.mjs";
import { inRounds, lanesOf } from "../rounds.mjs";

// Enough to estimate a lane's speed, so that the measured runs last as long as requested.
const probeItems = 2_000;

export async function drain(stage, { rounds, seconds, drainItemsMax }) {
  const lanes = lanesOf(stage, "drains");
  const rates = new Map();
  const measured = await inRounds({
    title: "lease + complete",
    rounds,
    lanes,
    async measure(lane) {
      const key = `${lane.participant.name} ${lane.number}`;
      if (!rates.has(key)) rates.set(key, (await drainOnce(stage, lane, probeItems, seconds)).perSecond);
      const count = Math.round(Math.min(drainItemsMax, Math.max(probeItems, rates.get(key) * seconds)));
      const result = await drainOnce(stage, lane, count, seconds);
      rates.set(key, result.perSecond);
      return result;
    },
  });
  return withRatios(measured);
}

async function drainOnce(stage, { participant, list, number }, count, seconds) {
  await stage.makeReady(participant, { count });
  const limitMs = (seconds * 3 + 5) * 1000;
  const { done, tookMs } = await participant.call("drain", { list, lane: number, target: count, limitMs });
  // Items counted as completed must be completed in the store, and all of them unless the deadline passed.
  const left = await participant.call("waiting");
  const undone = tookMs < limitMs ? left : Math.max(0, left - (count - done));
  return { perSecond: (done * 1000) / tookMs, count: done, errors: undone };
}

export function printDrain(rows) {
  const { form, participant, lane, toBestPeer, toLimit, perSecond, spread, errors } = columns;
  const order = [...new Set(rows.map((row) => row.form))].sort(byBatchingAndWorkers);
  printTable(
    "Lease + complete a second",
    [form, participant, lane, toBestPeer, toLimit, perSecond, spread, ["undone", errors[1]]],
    rows.toSorted((a, b) => order.indexOf(a.form) - order.indexOf(b.form)),
  );
}

function byBatchingAndWorkers(a, b) {
  const batched = (form) => Number(form.includes("batched"));
  return batched(a) - batched(b) || Number.parseInt(a, 10) - Number.parseInt(b, 10);
}
