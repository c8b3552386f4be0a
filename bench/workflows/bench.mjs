// npm run bench -- workflows [--seconds 5] [--rounds 3] [--only internal|tasks|timers|flat] [--quick]
//   [--without <participant>] [--sleepers 10000] [--finished 200000]
// Our workflow engine and other durable execution engines, side by side on one machine and one PostgreSQL.
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { readOptions } from "./options.mjs";
import { flat, printFlat } from "./sections/flat.mjs";
import { internal, printInternal } from "./sections/internal.mjs";
import { printTasks, tasks } from "./sections/tasks.mjs";
import { printTimers, timers } from "./sections/timers.mjs";
import { openStage } from "./stage.mjs";

const sections = {
  internal: [internal, printInternal],
  tasks: [tasks, printTasks],
  timers: [timers, printTimers],
  flat: [flat, printFlat],
};

export async function bench() {
  const options = readOptions(process.argv.slice(3), Object.keys(sections));
  const startedAt = performance.now();
  const loadBefore = loadavg()[0];
  const stage = await openStage(options);
  // An interrupt ends the run with its normal cleanup, and a second one does not abort that cleanup.
  const interrupted = Promise.withResolvers();
  const interrupt = () => interrupted.reject(new Error("interrupted"));
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    const results = {};
    for (const name of options.sections) {
      const [measure] = sections[name];
      results[name] = await Promise.race([measure(stage, options), interrupted.promise]);
    }
    for (const name of options.sections) sections[name][1](results[name]);
    for (const { name, why } of stage.leftOut) console.log(`\nSkipped: ${name}, because ${why}.`);
    console.log(`\nLoad average at the start of the run: ${loadBefore.toFixed(1)}, on ${cpus().length} processors.`);
    const tookS = Math.round((performance.now() - startedAt) / 1000);
    return { machine: { ...(await machine(stage)), loadBefore }, options, leftOut: stage.leftOut, tookS, ...results };
  } finally {
    await stage.close();
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

async function machine(stage) {
  return {
    processors: cpus().length,
    processor: cpus()[0].model,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres: await stage.postgresVersion(),
    peers: JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")).dependencies,
  };
}
