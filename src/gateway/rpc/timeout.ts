import { type Failure, fail } from "../../errors/index.ts";

// The longest delay of a timer. A longer one would fire immediately.
const timeoutMsMax = 2 ** 31 - 1;

const grpcUnitsMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Parses Connect-Timeout-Ms. An invalid value is returned as a failure, to be thrown after authentication. */
export function connectTimeoutMs(value: string | undefined): number | Failure | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,10}$/.test(value))
    return badTimeout("Connect-Timeout-Ms", "a number of milliseconds with at most ten digits (for example: 5000)");
  return Math.min(Number(value), timeoutMsMax);
}

/** Parses grpc-timeout: digits and a unit, such as 250m. */
export function grpcTimeoutMs(value: string | undefined): number | Failure | undefined {
  if (value === undefined) return undefined;
  const match = /^(\d{1,8})([HMSmun])$/.exec(value);
  if (match === null)
    return badTimeout("grpc-timeout", "at most eight digits and one of the units H, M, S, m, u, n (for example: 250m)");
  return Math.min(Math.ceil(Number(match[1]) * grpcUnitsMs[match[2]!]!), timeoutMsMax);
}

function badTimeout(header: string, rule: string): Failure {
  return fail("INVALID_ARGUMENT", { public: `The header ${header} must be ${rule}.` });
}
