import type { Interceptor, Next } from "./call.ts";

/** Wraps the end of the chain in the steps; the first step is the outermost. */
export function composeChain(steps: readonly Interceptor[], end: Next): Next {
  return steps.reduceRight<Next>((next, step) => (call) => step(call, next), end);
}
