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

/** The options of one run; explicit numbers win over --quick. */
export function readOptions(args, sections) {
  const given = (flag) => {
    const at = args.indexOf(`--${flag}`);
    return at < 0 ? undefined : args[at + 1];
  };
  const options = { ...(args.includes("--quick") ? quick : full), sections };
  for (const flag of ["seconds", "rounds", "sleepers", "finished"]) {
    const text = given(flag);
    if (text === undefined) continue;
    if (!(Number(text) > 0)) throw new Error(`--${flag} must be a number above 0 (for example: 5), not ${text}`);
    options[flag] = Number(text);
  }
  // Every sleeper has to be started before the first one wakes.
  options.sleepSeconds = Math.max(options.sleepSeconds, options.sleepers / 1_000);
  if (args.includes("--only")) {
    const only = given("only");
    if (!sections.includes(only)) throw new Error(`--only must be one of ${sections.join(", ")}`);
    options.sections = [only];
  }
  options.without = args.flatMap((arg, i) => (arg === "--without" ? [args[i + 1]] : []));
  return options;
}
