// npm run bench -- workflows [--seconds 5] [--rounds 3] [--only internal|tasks|timers|flat] [--quick]
//   [--without <participant>] [--sleepers 10000] [--finished 200000]
// Our workflow engine and other durable execution engines, side by side on one machine and one PostgreSQL.
import { openStage } from "../participant-stage.mjs";
import { runSections } from "../section-runner.mjs";
import { readOptions } from "./options.mjs";
import { participants } from "./participants.mjs";
import { flat, printFlat } from "./sections/flat.mjs";
import { internal, printInternal } from "./sections/internal.mjs";
import { printTasks, tasks } from "./sections/tasks.mjs";
import { printTimers, timers } from "./sections/timers.mjs";

const processFile = new URL("./participant.mjs", import.meta.url);
const sections = {
  internal: [internal, printInternal],
  tasks: [tasks, printTasks],
  timers: [timers, printTimers],
  flat: [flat, printFlat],
};

export function bench() {
  return runSections(sections, readOptions(process.argv.slice(3), Object.keys(sections)), ({ without }) =>
    openStage({ participants, processFile, without }),
  );
}
