import type { Interceptor, Next } from "./call.ts";

/** Puts the steps around the end of the chain, the first one outermost. */
export function composeChain(steps: readonly Interceptor[], end: Next): Next {
  return steps.reduceRight<Next>((next, step) => (call) => step(call, next), end);
}
