/**
 * Governance: how changes of a deployment are proven before they are trusted.
 *
 * conformance: checks that this instance keeps its guarantees.
 */
import type { Area } from "../area.ts";
import { type ConformanceParts, createConformance } from "./conformance/index.ts";

/** Creates the area. */
export function createGovernance(parts: ConformanceParts) {
  const conformance = createConformance(parts);
  return {
    handlers: { "service.api.ConformanceService": conformance.handlers },
    jobs: [...conformance.jobs],
    workers: [],
  } satisfies Area;
}
