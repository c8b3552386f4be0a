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

/** The options of one run; explicit numbers win over --quick. */
export function readOptions(args, sections) {
  const given = (flag) => {
    const at = args.indexOf(`--${flag}`);
    return at < 0 ? undefined : args[at + 1];
  };
  const options = { ...(args.includes("--quick") ? quick : full), sections };
  for (const flag of ["seconds", "rounds"]) {
    const text = given(flag);
    if (text === undefined) continue;
    if (!(Number(text) > 0)) throw new Error(`--${flag} must be a number above 0 (for example: 5), not ${text}`);
    options[flag] = Number(text);
  }
  if (args.includes("--only")) {
    const only = given("only");
    if (!sections.includes(only)) throw new Error(`--only must be one of ${sections.join(", ")}`);
    options.sections = [only];
  }
  options.without = args.flatMap((arg, i) => (arg === "--without" ? [args[i + 1]] : []));
  return options;
}
