import type { TenantId } from "../../../../platform/access/index.ts";
import type { Matcher } from "../domain/capabilities.ts";

/** A worker's request for tasks. */
export interface PollRequest {
  readonly tenantId: TenantId;
  readonly environmentId: string;
  readonly inProduction: boolean;
  readonly queue: string;
  readonly workerId: string;
  readonly matcher: Matcher;
  /** The most tasks to lease; at least 1. */
  readonly slots: number;
  readonly waitMs: number;
  /** Runs whose tasks are preferred. */
  readonly stickyRuns: readonly string[];
  readonly signal: AbortSignal;
  /** Rejects when the worker has lost its access. Called before and after every scan that follows a wait. */
  readonly recheckAccess: () => Promise<void>;
  /** Called with the duration of each wait. */
  readonly onWaited: (ms: number) => void;
}
