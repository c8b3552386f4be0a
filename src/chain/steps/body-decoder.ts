import type { Failure } from "../../errors/index.ts";
import type { Call, ChargeBytes, Interceptor } from "../call.ts";
import type { RefusalThrottle } from "./limits/refusal-throttle.ts";

interface Dependencies {
  /** Predict, in order, from the method and the headers whether a later step will refuse the call. */
  readonly refusals: readonly ((call: Call) => Failure | undefined)[];
  readonly throttle: RefusalThrottle;
  /** Charges the rate limit for a body's size, or throws; undefined if there is no rate limit. */
  readonly chargeBytes: ((call: Call, bytes: number) => Promise<void> | undefined) | undefined;
  /** A body with a larger Content-Length is refused because of its size and not charged. */
  readonly bodyBytesMax: number;
  /** Rejects if the call would be refused now. */
  readonly recheckAccess: (call: Call) => Promise<void>;
}

/** The age from which a call's access is checked again after its body. A revoked key is rejected within this time. */
const recheckAfterMs = 1000;

/**
 * Reads and parses the body. The steps before it need only the method and the headers.
 *
 * A call that exceeds its rate or concurrency limit is refused before its body is read. A large body is charged before it
 * is read, or before it is parsed if it has no Content-Length. A slow body can outlast its caller's access.
 */
export function bodyDecoder({
  refusals,
  throttle,
  chargeBytes,
  bodyBytesMax,
  recheckAccess,
}: Dependencies): Interceptor {
  return async (call, next) => {
    for (const refusalOf of refusals) {
      const refusal = refusalOf(call);
      if (refusal === undefined) continue;
      const delayed = throttle(call.tenantId ?? "");
      if (delayed !== undefined) await delayed;
      throw refusal;
    }
    const contentLength = Number(call.header("content-length") ?? 0) || 0;
    const isFree = chargeBytes === undefined || contentLength > (call.operation.rawBodyBytesMax ?? bodyBytesMax);
    const charged = isFree ? undefined : chargeBytes(call, contentLength);
    if (charged !== undefined) await charged;
    const chargeRest: ChargeBytes = (bytes) =>
      isFree || bytes <= contentLength ? undefined : chargeBytes(call, bytes - contentLength);
    const decoded = call.decode(chargeRest);
    call.message = decoded instanceof Promise ? await decoded : decoded;
    if (performance.now() - call.startedAtMs >= recheckAfterMs) await recheckAccess(call);
    return next(call);
  };
}
