import { fc } from "../../../../../test/harness/random.ts";

/** Any singleton constraint; its key is not evaluated. */
export const singletons = fc.record({
  key: fc.constant(""),
  mode: fc.constantFrom("skip" as const, "replace_pending" as const, "cancel_running" as const),
  ttlS: fc.integer({ min: 1, max: 10 }),
});

/** Any debounce constraint; its key is not evaluated. */
export const debounces = fc.record({
  key: fc.constant(""),
  periodS: fc.integer({ min: 1, max: 5 }),
  maxDelayS: fc.integer({ min: 1, max: 10 }),
  take: fc.constantFrom("last" as const, "first" as const, "all" as const),
});
