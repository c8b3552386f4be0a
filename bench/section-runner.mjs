// Runs the sections of a bench that compares participants side by side, and describes the machine.
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";

/**
 * Measures the chosen sections on one stage and prints them. `sections` maps a name to its functions [measure, print].
 */
export async function runSections(sections, options, openStage) {
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
      const [measure, print] = sections[name];
      results[name] = await Promise.race([measure(stage, options), interrupted.promise]);
      print(results[name]);
    }
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
    peers: JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8")).dependencies,
  };
}
