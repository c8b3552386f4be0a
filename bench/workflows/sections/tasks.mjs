// Runs whose steps are executed by workers.
import { printAims, printRates, ratioAims, withRatios } from "../report.mjs";
import { inRounds } from "../rounds.mjs";

const formOf = (steps) => (steps === 1 ? "1 task" : `${steps} tasks`);
const callers = 16;

export async function tasks(stage, { rounds, seconds, warmupSeconds }) {
  const rows = await inRounds({
    ...{ stage, rounds, title: "tasks" },
    lanesOf: ({ taskSteps }) => taskSteps.map((steps) => ({ form: formOf(steps), steps })),
    measure: (participant, { steps }) =>
      participant.call("runFor", { lane: { section: "tasks", steps }, callers, seconds, warmupSeconds }),
  });
  return withRatios(rows);
}

export function printTasks(rows) {
  printRates("Runs of tasks for workers", rows);
  printAims([1, 3].flatMap((steps) => ratioAims(rows, formOf(steps), { DBOS: 4, Restate: 1 })));
}
