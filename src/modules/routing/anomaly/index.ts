/**
 * Anomalies: what stands out among the outcomes of pools and their recipients, and what is done about it.
 *
 * window: a stretch of time, and what came of the work in it. baseline: the windows that tell what is usual.
 * finding: something that stands out in two of the last three windows. anomaly: a finding that was reported, with the
 * actions that were taken; the same is reported again only after a while.
 */
import type { AnomalyService as Rpc } from "../../../../gen/service/api/anomaly_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";
import { anomalyHandlers } from "./handler.ts";
import { anomalyJobs, type JobParts } from "./jobs.ts";

export type { WatchedPools } from "./watching.ts";

/** The door of the module. */
export interface Anomalies {
  readonly handlers: Handlers<typeof Rpc>;
  readonly jobs: readonly JobKind[];
}

/** Makes the module. */
export function createAnomalies({ cursors, ...parts }: JobParts & { readonly cursors: Cursors }): Anomalies {
  return { handlers: anomalyHandlers(cursors), jobs: anomalyJobs(parts) };
}
