// The options that the benches with sections share.

/**
 * Reads the options of one run from the arguments: the full or the quick ones, with explicit numbers for the named flags.
 * `--only` selects one section; `--without` leaves out a participant and can be repeated. `--database-url` names the server to
 * use instead of the embedded one.
 */
export function readRunOptions(args, { full, quick, sections, numbers = [] }) {
  const given = (flag) => {
    const at = args.indexOf(`--${flag}`);
    return at < 0 ? undefined : args[at + 1];
  };
  const options = { ...(args.includes("--quick") ? quick : full), sections };
  for (const flag of ["seconds", "rounds", ...numbers]) {
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
  options.databaseUrl = given("database-url");
  options.without = args.flatMap((arg, i) => (arg === "--without" ? [args[i + 1]] : []));
  return options;
}
