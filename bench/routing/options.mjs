import { readRunOptions } from "../run-options.mjs";

// Command line options: --seconds, --rounds, --only <section>, --without <participant>, --database-url <url>, --nodes <number of
// our nodes>, --quick.

const full = {
  seconds: 5,
  rounds: 3,
  // Node compiles code during the first seconds: after one second a call still costs a third more than later.
  warmupSeconds: 3,
  waitingAtFirst: 10_000,
  drainItemsMax: 300_000,
  backlogs: [10_000, 100_000, 1_000_000],
  recipients: [10, 1_000, 10_000],
  rules: [1, 10, 200],
};

// Enough to check that everything runs; too short for comparisons.
const quick = {
  seconds: 1,
  rounds: 1,
  warmupSeconds: 0.3,
  waitingAtFirst: 2_000,
  drainItemsMax: 10_000,
  backlogs: [1_000, 10_000],
  recipients: [10, 100],
  rules: [1, 10],
};

/** The options of one run. */
export function readOptions(args, sections) {
  return readRunOptions(args, { full, quick, sections, numbers: ["nodes"] });
}
