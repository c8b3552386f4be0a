// Runs of three steps that need nothing outside of the engine: from the start to the stored end.
import { printAims, printRates, ratioAims, withRatios } from "../report.mjs";
import { inRounds } from "../rounds.mjs";

const formOf = (callers) => (callers === 1 ? "1 caller" : `${callers} callers`);

export async function internal(stage, { rounds, seconds, warmupSeconds, callers }) {
  const rows = await inRounds({
    ...{ stage, rounds, title: "internal" },
    lanesOf: ({ hasInternal }) =>
      hasInternal ? callers.map((count) => ({ form: formOf(count), callers: count })) : [],
    measure: (participant, lane) =>
      participant.call("runFor", {
        ...{ lane: { section: "internal" }, callers: lane.callers, warmupSeconds },
        // One caller of an engine that polls gets few runs.
        seconds: lane.callers === 1 ? Math.min(seconds, 3) : seconds,
      }),
  });
  return withRatios(rows);
}

export function printInternal(rows) {
  printRates("Runs of three internal steps", rows);
  const aims = { DBOS: 8, openworkflow: 5, "pg-workflows": 10, Restate: 1 };
  printAims([16, 64].flatMap((callers) => ratioAims(rows, formOf(callers), aims)));
}
