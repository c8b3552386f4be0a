/** What the exit code of a command tells a script. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  conflict: 5,
  unavailable: 6,
  configuration: 78,
} as const;

const meanings: readonly (readonly [number, string])[] = [
  [exitCodes.ok, "done"],
  [exitCodes.failed, "failed in another way than those below"],
  [exitCodes.usage, "the command, an option or a value of the request is wrong"],
  [exitCodes.refused, "the caller is not known or not allowed"],
  [exitCodes.notFound, "there is no such record"],
  [exitCodes.conflict, "a conflict, or a state that does not allow it"],
  [exitCodes.unavailable, "rate limited or not available: try again later"],
  [exitCodes.configuration, "a setting is wrong (commands that read the settings)"],
];

/** The end of the help text. */
export const exitCodesHelp: string = [
  "",
  "Exit codes:",
  ...meanings.map(([code, meaning]) => `  ${String(code).padEnd(4)}${meaning}`),
].join("\n");

/** Ends a command with a message for people and an exit code. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A command that was not written as it must be. */
export function usageError(message: string): CliError {
  return new CliError(message, exitCodes.usage);
}

/** The exit code for an answer that is an error. */
export function exitCodeOf(status: number, retryable: boolean | undefined): number {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 431:
      return exitCodes.usage;
    case 401:
    case 403:
      return exitCodes.refused;
    case 404:
    case 410:
      return exitCodes.notFound;
    case 409:
    case 412:
      return exitCodes.conflict;
    case 408:
    case 429:
      return exitCodes.unavailable;
    case 502:
    case 503:
    case 504:
      // A feature that is switched off does not come back by waiting.
      return retryable === false ? exitCodes.conflict : exitCodes.unavailable;
    default:
      return exitCodes.failed;
  }
}
