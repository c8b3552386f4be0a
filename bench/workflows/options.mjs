import { readRunOptions } from "../run-options.mjs";

// Command line options: --seconds, --rounds, --sleepers, --finished, --only <section>, --without <participant>, --quick.

const full = {
  seconds: 5,
  rounds: 3,
  // Node compiles code during the first seconds.
  warmupSeconds: 3,
  callers: [1, 16, 64],
  sleepers: 10_000,
  sleepSeconds: 15,
  finishedFew: 10_000,
  finished: 200_000,
};

// Enough to check that everything runs; too short for comparisons.
const quick = {
  seconds: 1,
  rounds: 1,
  warmupSeconds: 0.5,
  callers: [1, 16, 64],
  sleepers: 500,
  sleepSeconds: 3,
  finishedFew: 1_000,
  finished: 10_000,
};

/** The options of one run. */
export function readOptions(args, sections) {
  const options = readRunOptions(args, { full, quick, sections, numbers: ["sleepers", "finished"] });
  // Every sleeper has to be started before the first one wakes.
  return { ...options, sleepSeconds: Math.max(options.sleepSeconds, options.sleepers / 1_000) };
}
