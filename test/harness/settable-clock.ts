import { createAreas } from "../../src/app/areas.ts";

/** A test build of a node whose time can be ahead of the database's. */
export function createSettableClock() {
  const time = { aheadMs: 0 };
  const createAreasAhead: typeof createAreas = (parts) => {
    const { now } = parts.clock;
    Object.assign(parts.clock, { now: () => now() + time.aheadMs });
    return createAreas(parts);
  };
  return { time, createAreas: createAreasAhead };
}
