import { CliError, exitCodes } from "../exit-codes.ts";

const lostCodes = new Set(["ECONNRESET", "EPIPE"]);

/** Whether an established connection was lost during a call. */
export function isConnectionLost(error: unknown): boolean {
  return lostCodes.has(codeOf(error));
}

/** The system's error code of a failed call; the name of an error without one. */
export function codeOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: unknown };
  return typeof code === "string" ? code : (name ?? "");
}

/** Explains in one line why a call got no response. */
export function toCliError(address: string, error: unknown, timeoutS: number): CliError {
  const failure = (message: string, exitCode: number) => new CliError(message, exitCode, { cause: error });
  switch (codeOf(error)) {
    case "ECONNREFUSED":
      return failure(
        `Cannot connect to ${address} (connection refused). Check that the service is running and that the address is correct.`,
        exitCodes.unavailable,
      );
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return failure(`Cannot resolve the host name of ${address}.`, exitCodes.unavailable);
    case "ETIMEDOUT":
    case "TimeoutError":
      return failure(`${address} did not respond within ${timeoutS} s.`, exitCodes.unavailable);
    default: {
      const exitCode = isConnectionLost(error) ? exitCodes.unavailable : exitCodes.failed;
      return failure(`The request to ${address} failed: ${(error as Error).message}`, exitCode);
    }
  }
}
