/** The exit codes of commands. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  conflict: 5,
  unavailable: 6,
  incompatible: 7,
  degraded: 10,
  unhealthy: 11,
  unknown: 12,
  configuration: 78,
} as const;

const meanings: readonly (readonly [number, string])[] = [
  [exitCodes.ok, "success"],
  [exitCodes.failed, "any other failure"],
  [exitCodes.usage, "invalid command, option or request (400)"],
  [exitCodes.refused, "authentication failed or permission denied (401, 403)"],
  [exitCodes.notFound, "record not found (404, 410)"],
  [exitCodes.conflict, "conflict, or not possible in the current state (409, 412)"],
  [exitCodes.unavailable, "rate limited or unavailable; try again later (429, 503)"],
  [exitCodes.incompatible, "this version cannot run on a database that another version uses"],
  [exitCodes.degraded, "service report health: the verdict is degraded"],
  [exitCodes.unhealthy, "service report health: the verdict is unhealthy"],
  [exitCodes.unknown, "service report health: the verdict is unknown"],
  [exitCodes.configuration, "invalid setting"],
];

/** The list of exit codes in the help. */
export const exitCodesHelp: string = [
  "",
  "Exit codes:",
  ...meanings.map(([code, meaning]) => `  ${String(code).padEnd(4)}${meaning}`),
].join("\n");

/** An error that ends a command with a message and an exit code. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Creates the error of an invalid command line. */
export function usageError(message: string): CliError {
  return new CliError(message, exitCodes.usage);
}

/** The statuses of error responses by their exit code. */
const statuses: readonly (readonly [number, readonly number[]])[] = [
  [exitCodes.usage, [400, 413, 415, 416, 431]],
  [exitCodes.refused, [401, 403]],
  [exitCodes.notFound, [404, 410]],
  [exitCodes.conflict, [409, 412]],
  [exitCodes.unavailable, [408, 429, 502, 503, 504]],
];

/** The exit code of an error response. */
export function exitCodeOf(status: number, retryable: boolean | undefined): number {
  const found = statuses.find(([, listed]) => listed.includes(status));
  if (found === undefined) return exitCodes.failed;
  // A disabled feature is not retryable.
  return status >= 500 && retryable === false ? exitCodes.conflict : found[0];
}
