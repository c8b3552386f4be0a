/**
 * The suites, one file each. Ids of cases are stable: a case that changes its meaning gets a new id, and a suite whose cases
 * change gets a new version.
 */
import type { ConformanceSuite, SuiteSource } from "../sandbox/index.ts";
import { accessSuite } from "./access.ts";
import { admissionSuite } from "./admission.ts";
import { bridgeSuite } from "./bridge.ts";
import { connectorLifecycleSuite } from "./connector-lifecycle.ts";
import { deliverySuite } from "./delivery.ts";
import { experimentsSuite } from "./experiments.ts";
import { mcpSuite } from "./mcp.ts";
import { runtimeSuite } from "./runtime.ts";
import { workerProtocolSuite } from "./worker-protocol.ts";

const sources: readonly SuiteSource[] = [
  runtimeSuite,
  bridgeSuite,
  workerProtocolSuite,
  mcpSuite,
  connectorLifecycleSuite,
  admissionSuite,
  accessSuite,
  deliverySuite,
  experimentsSuite,
];

export const conformanceSuites: readonly ConformanceSuite[] = sources.map(({ defaults, cases, ...suite }) => ({
  ...suite,
  cases: Object.entries(cases).map(([id, each]) => ({ id, ...defaults, ...each })),
}));
