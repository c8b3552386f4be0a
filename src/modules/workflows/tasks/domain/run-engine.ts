import type { TenantId } from "../../../../platform/access/index.ts";
import type { Json } from "./task.ts";

/** The result of an attempt. */
export type TaskEvent =
  | { readonly kind: "attempt_succeeded"; readonly taskId: string; readonly token: string; readonly output: Json }
  | {
      readonly kind: "attempt_failed";
      readonly taskId: string;
      readonly token: string;
      readonly code: string;
      readonly message: string;
      readonly details: Json;
      readonly retryable: boolean;
      /** Undefined: the retry policy of the step decides. */
      readonly retryAfterMs: number | undefined;
    }
  | {
      readonly kind: "attempt_lost";
      readonly taskId: string;
      readonly token: string;
      readonly code: "attempt_timeout" | "heartbeat_timeout" | "worker_lost";
    };

/** Advances runs. */
export interface RunEngine {
  /** Applies an event to a run; resolves after its commit. "stale": the attempt is over, or the run has ended. */
  apply(tenantId: TenantId, runId: string, event: TaskEvent): Promise<"applied" | "stale">;
}
