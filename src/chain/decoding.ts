import type { Interceptor } from "./call.ts";

/** The bar: only here is the body read and parsed. Everything outside needs no more than method and headers. */
export function decoding(): Interceptor {
  return async (call, next) => {
    const decoded = call.decode();
    call.message = decoded instanceof Promise ? await decoded : decoded;
    return next(call);
  };
}
