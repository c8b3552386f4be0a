import type { QuotaReceipt } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../platform/idempotency/index.ts";
import type { Environments } from "../environments/index.ts";
import { inputLengthMax } from "./domain/engine/size-limits.ts";
import type { RunEngine } from "./run-engine.ts";
import type { StartRequest, StartRun } from "./start/run-start.ts";
import { runStore } from "./storage/run-store.ts";

/** Charges a tenant's daily quota for work that no call asked for, or throws QUOTA_EXCEEDED; undefined if unlimited. */
export type TakeQuota = (tenantId: TenantId, operation: string, count: number) => Promise<QuotaReceipt | undefined>;

/** A run that the service itself starts. */
export interface ServiceStartRequest
  extends Pick<StartRequest, "tenantId" | "definition" | "version" | "input" | "runKey" | "origin"> {
  /** The id of the run. A repeat uses the same one. */
  readonly id: string;
  readonly environmentId: string;
  /** Stored together with the run: a repeat with the same record starts nothing. */
  readonly record: IdempotencyRecord;
}

/**
 * The result of a start. known: an earlier attempt started the run. in_progress: the run with the same run key goes on.
 * refused: a repeat cannot succeed before somebody changes something.
 */
export type ServiceStartOutcome =
  | { readonly kind: "started" | "known" | "in_progress"; readonly runId: string }
  | { readonly kind: "refused"; readonly message: string };

interface Dependencies {
  readonly db: Database;
  readonly environments: Environments;
  readonly start: StartRun;
  readonly engine: RunEngine;
  readonly takeQuota: TakeQuota;
}

/** Creates the functions for runs of the service itself. */
export function createServiceStartedRuns({ db, environments, start, engine, takeQuota }: Dependencies) {
  return {
    /** Starts a run, unless an earlier attempt has. Throws QUOTA_EXCEEDED if the tenant may start no more today. */
    async startFor({ environmentId, record, ...request }: ServiceStartRequest): Promise<ServiceStartOutcome> {
      const { tenantId, id } = request;
      const environment = await environments.find(tenantId, environmentId);
      if (environment === undefined) return { kind: "refused", message: "The environment does not exist any more." };
      if (JSON.stringify(request.input).length > inputLengthMax) {
        return { kind: "refused", message: `The input exceeds ${inputLengthMax / 1024} KiB as JSON.` };
      }
      const outcome = await start({
        ...request,
        environment,
        takeQuota: async () => (await takeQuota(tenantId, "workflow.run", 1)) ?? noReceipt,
        record: () => record,
      });
      switch (outcome.kind) {
        case "started":
          return { kind: "started", runId: id };
        case "duplicate":
          return { kind: "known", runId: id };
        case "in_progress":
          return { kind: outcome.run.id === id ? "known" : "in_progress", runId: outcome.run.id };
        case "refused":
          return { kind: "refused", message: outcome.message };
      }
    },

    /** Cancels a run, with compensation; does nothing if it has ended. */
    async cancelFor(tenantId: TenantId, runId: string, by: string, reason: string) {
      await engine.advance({ tenantId, runId, toEvent: () => ({ kind: "cancel", by, reason, compensate: true }) });
    },

    /** Those of the given runs that have not ended. */
    findInProgress: (tenantId: TenantId, runIds: readonly string[]) =>
      runStore(db.sql).findInProgress(tenantId, runIds),
    /** Those of the given runs that exist, whether they have ended or not. */
    findExisting: (tenantId: TenantId, runIds: readonly string[]) => runStore(db.sql).findExisting(tenantId, runIds),
  };
}

/** The receipt of a tenant without a quota. */
export const noReceipt: QuotaReceipt = { async refund() {} };
