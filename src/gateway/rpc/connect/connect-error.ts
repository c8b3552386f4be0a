import type { ConnectCode, Failure } from "../../../errors/index.ts";
import { rpcCodeOf, toErrorDetails } from "../error-details.ts";

// https://connectrpc.com/docs/protocol/#error-codes
const httpStatuses: Readonly<Record<ConnectCode, number>> = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  data_loss: 500,
  unauthenticated: 401,
};

/** The HTTP status of a failed Connect call. It depends on the Connect code, so it may differ from REST's status. */
export function connectStatusOf(failure: Failure): number {
  return httpStatuses[rpcCodeOf(failure)];
}

/** Converts a failure to Connect's error object. */
export function toConnectError(failure: Failure, requestId: string) {
  return {
    code: rpcCodeOf(failure),
    message: failure.message,
    details: toErrorDetails(failure, requestId).map(({ type, value, debug }) => ({
      type,
      value: Buffer.from(value).toString("base64").replace(/=+$/, ""),
      debug,
    })),
  };
}
