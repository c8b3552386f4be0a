import { CliError, exitCodes } from "../exit-codes.ts";

const lostCodes = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Whether a call failed because its connection broke on the way. One that was never made does not count. */
export function connectionLost(error: unknown): boolean {
  return lostCodes.has(codeOf(error));
}

/** The system's code for what went wrong with a call. */
export function codeOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string; errors?: { code?: string }[] } };
  return cause?.code ?? cause?.errors?.[0]?.code ?? name ?? "";
}

/** Says in one line why no answer came. */
export function unreachable(address: string, error: unknown, timeoutS: number): CliError {
  const say = (what: string, exitCode: number) => new CliError(what, exitCode, { cause: error });
  switch (codeOf(error)) {
    case "ECONNREFUSED":
      return say(
        `Nothing answers at ${address} (connection refused). Is the service running, and is the address right?`,
        exitCodes.unavailable,
      );
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return say(`The name in ${address} is not known.`, exitCodes.unavailable);
    case "TimeoutError":
    case "UND_ERR_CONNECT_TIMEOUT":
      return say(`${address} did not answer within ${timeoutS} s.`, exitCodes.unavailable);
    default: {
      const { cause, message } = error as Error & { cause?: Error };
      const exitCode = connectionLost(error) ? exitCodes.unavailable : exitCodes.failed;
      return say(`The call to ${address} failed: ${cause?.message || message}`, exitCode);
    }
  }
}
