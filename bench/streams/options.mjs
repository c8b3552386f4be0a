import { readRunOptions } from "../run-options.mjs";

// Command line options: --seconds, --rounds, --only <section>, --without <participant>, --quick.

const full = {
  seconds: 5,
  rounds: 3,
  // Node compiles code during the first seconds.
  warmupSeconds: 3,
  /** Subscribers of one stream, and the records that each of them receives. */
  audiences: [
    { subscribers: 1, records: 500 },
    { subscribers: 1_000, records: 100 },
  ],
  replayed: 50_000,
};

// Enough to check that everything runs; too short for comparisons.
const quick = {
  seconds: 1,
  rounds: 1,
  warmupSeconds: 2,
  audiences: [
    { subscribers: 1, records: 100 },
    { subscribers: 1_000, records: 20 },
  ],
  replayed: 5_000,
};

/** The options of one run. */
export function readOptions(args, sections) {
  return readRunOptions(args, { full, quick, sections });
}
