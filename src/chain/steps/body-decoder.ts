import type { Failure } from "../../errors/index.ts";
import type { Call, Interceptor } from "../call.ts";
import type { RefusalPace } from "./limits/refusal-pace.ts";

interface Parts {
  /** Asked in order whether a call is refused by a later step anyway, for what its method and headers tell. */
  readonly refusals: readonly ((call: Call) => Failure | undefined)[];
  readonly pace: RefusalPace;
  /** Takes what a body costs by its size, or throws; undefined where nothing is limited. */
  readonly chargeBytes: ((call: Call, bytes: number) => Promise<void> | undefined) | undefined;
  /** A body that announces more is refused for its size, and charged nothing. */
  readonly bodyBytesMax: number;
}

/**
 * The bar: only here is the body read and parsed. Everything outside needs no more than method and headers.
 *
 * A call that a later step is bound to refuse, since its rate is spent or no place is free, is refused before its body is
 * read. A large body is paid for before it is read, or before it is parsed when its length was not announced.
 */
export function decoding({ refusals, pace, chargeBytes, bodyBytesMax }: Parts): Interceptor {
  return async (call, next) => {
    for (const refusalOf of refusals) {
      const refusal = refusalOf(call);
      if (refusal === undefined) continue;
      const held = pace(call.tenantId ?? "");
      if (held !== undefined) await held;
      throw refusal;
    }
    const announced = Number(call.header("content-length") ?? 0) || 0;
    const isFree = chargeBytes === undefined || announced > bodyBytesMax;
    const decoded = isFree ? call.decode() : decodePaid(call, announced, chargeBytes);
    call.message = decoded instanceof Promise ? await decoded : decoded;
    return next(call);
  };
}

async function decodePaid(call: Call, announced: number, chargeBytes: NonNullable<Parts["chargeBytes"]>) {
  const charged = chargeBytes(call, announced);
  if (charged !== undefined) await charged;
  return call.decode((bytes) => (bytes > announced ? chargeBytes(call, bytes - announced) : undefined));
}
