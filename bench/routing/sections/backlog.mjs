// The cost of an item with a large backlog: accepting one, and leasing and completing one.
import { columns, printTable, show, withRatios } from "../report.mjs";
import { inRounds } from "../rounds.mjs";

const acceptForm = "single";
const drainForms = ["4 workers, batched", "4 workers, single"];

export async function backlog(stage, { rounds, seconds, backlogs }) {
  const taking = stage.present.filter(({ fills, drains }) => fills && drains.length > 0);
  const lanes = taking.map((participant) => ({
    participant,
    name: "accept and drain",
    accept: participant.accepts.findIndex(({ form }) => form === acceptForm),
    drain: firstOfForms(participant.drains, drainForms),
  }));
  const rows = [];
  let waiting = 0;
  // The smallest backlog is measured again at the end: a difference means that the machine has changed.
  for (const size of [...backlogs, backlogs[0]]) {
    const fromScratch = size < waiting || waiting === 0;
    for (const { participant } of lanes) {
      process.stderr.write(`backlog: ${participant.name} gets ${size.toLocaleString("en")} waiting items\n`);
      if (fromScratch) await participant.call("clear", {});
      await stage.addWaiting(participant, { count: fromScratch ? size : size - waiting });
    }
    waiting = size;
    const measured = await inRounds({
      title: `backlog of ${size.toLocaleString("en")}`,
      rounds,
      lanes,
      measure: (lane) => measureWith(lane, backlogs[0], seconds),
    });
    rows.push(
      ...withRatios(measured.map((row) => ({ ...row, form: "accept, lease and complete one", waiting: size }))),
    );
  }
  for (const { participant } of lanes) await participant.call("clear", {});
  return rows.map((row) => {
    const smallest = rows.filter((each) => each.participant === row.participant && each.waiting === backlogs[0]);
    return {
      ...row,
      acceptToSmallest: row.acceptUs / mean(smallest.map(({ acceptUs }) => acceptUs)),
      drainToSmallest: row.drainUs / mean(smallest.map(({ drainUs }) => drainUs)),
    };
  });
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function firstOfForms(lanes, forms) {
  return forms.map((form) => lanes.findIndex((lane) => lane.form === form)).find((number) => number >= 0);
}

/**
 * Adds `step` items and removes as many, repeatedly. The step is the same for every backlog, so that the start-up time
 * of workers has the same weight in each.
 */
async function measureWith({ participant, accept, drain }, step, seconds) {
  const spent = { accept: 0, drain: 0 };
  const items = { accept: 0, drain: 0 };
  let errors = 0;
  const startedAt = performance.now();
  do {
    const accepted = await participant.call("acceptCount", { lane: accept, count: step });
    errors += accepted.errors;
    spent.accept += accepted.tookMs;
    items.accept += step;
    const pace = { target: step, limitMs: 60_000 };
    const drained = await participant.call("drain", { list: "drains", lane: drain, ...pace });
    spent.drain += drained.tookMs;
    items.drain += drained.done;
  } while (performance.now() - startedAt < seconds * 2_000);
  const acceptUs = (spent.accept * 1000) / items.accept;
  const drainUs = (spent.drain * 1000) / items.drain;
  // Inverted, so that the ratios are of throughput as everywhere else.
  return { acceptUs, drainUs, perSecond: 1e6 / (acceptUs + drainUs), errors };
}

export function printBacklog(rows) {
  const { participant, toBestPeer, toLimit, spread, errors } = columns;
  const smallest = Math.min(...rows.map((row) => row.waiting)).toLocaleString("en");
  printTable(
    "The cost of an item while others wait (accept: 64 callers; lease + complete: 4 workers, in batches where there are any)",
    [
      ["waiting", (row) => row.waiting.toLocaleString("en")],
      participant,
      toBestPeer,
      toLimit,
      [`accept x ${smallest}`, (row) => show.ratio(row.acceptToSmallest)],
      [`lease + complete x ${smallest}`, (row) => show.ratio(row.drainToSmallest)],
      ["accept us", (row) => show.whole(row.acceptUs)],
      ["lease + complete us", (row) => show.whole(row.drainUs)],
      spread,
      errors,
    ],
    rows,
  );
}
