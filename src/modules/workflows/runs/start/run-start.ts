import type { QuotaReceipt } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import type { Definitions, Json } from "../../definitions/index.ts";
import type { UsableEnvironment } from "../../environments/index.ts";
import type { Mail } from "../domain/engine/state.ts";
import type { Run, RunOrigin } from "../domain/run.ts";
import type { PlanCache } from "../plan-cache.ts";
import { releaseKey, runStore } from "../storage/run-store.ts";
import { checkRunInput } from "./run-input.ts";
import type { PreparedRun, RunStarter } from "./run-starter.ts";

/** A request to start a run of a published definition. */
export interface StartRequest {
  readonly tenantId: TenantId;
  /** Default: a new id. */
  readonly id?: string | undefined;
  readonly environment: UsableEnvironment;
  /** The key or the id of the definition. */
  readonly definition: string;
  /** Undefined: the active version. */
  readonly version: number | undefined;
  readonly input: Json;
  /** Empty for a run without a key. */
  readonly runKey: string;
  /** When it starts; undefined: now. */
  readonly startAtMs?: number | undefined;
  /** An event that the run starts with. */
  readonly mail?: Mail | undefined;
  /** The run that waits for it; empty if none does. */
  readonly parentRunId?: string;
  readonly origin: Omit<RunOrigin, "environment" | "definition">;
  /** Charges the quota, or throws; undefined if there is none. Called when nothing else refuses the start. */
  takeQuota?(): Promise<QuotaReceipt> | undefined;
  /** The record that keeps a repeat from starting the run again. It is stored together with the run. */
  record?: ((prepared: PreparedRun) => IdempotencyRecord) | undefined;
}

/**
 * The result of a start. in_progress: the run with the same run key goes on. duplicate: the record exists already. refused:
 * the definition cannot be started like this, and a repeat cannot succeed before somebody changes something.
 */
export type StartOutcome =
  | { readonly kind: "started"; readonly prepared: PreparedRun }
  | { readonly kind: "in_progress"; readonly run: Run }
  | { readonly kind: "duplicate" }
  | StartRefused;

interface StartRefused {
  readonly kind: "refused";
  readonly reason: "unpublished" | "archived" | "input";
  readonly message: string;
}

/** Starts a run of a published definition: for a call, for a step of another run, or for a trigger. */
export type StartRun = (request: StartRequest) => Promise<StartOutcome>;

interface Dependencies {
  readonly db: Database;
  readonly definitions: Pick<Definitions, "resolve">;
  readonly plans: PlanCache;
  readonly starter: RunStarter;
}

export function createRunStart({ db, definitions, plans, starter }: Dependencies): StartRun {
  return async (request) => {
    const { tenantId, environment, definition, input, runKey, origin, parentRunId = "" } = request;
    const start = { environmentId: environment.id, runKey };
    const published = await definitions.resolve(tenantId, definition, request.version, start);
    if (published === undefined) return refused("unpublished", unpublished(definition, request.version));
    if (published.archived) return refused("archived", `The workflow definition "${published.key}" is archived.`);
    const violations = checkRunInput(published.definition, input);
    if (violations !== undefined) return refused("input", violations);
    const { definitionId } = published;
    const findByKey = () => runStore(db.sql).findByKey(tenantId, environment.id, definitionId, runKey);
    const existing = runKey === "" ? undefined : await findByKey();
    if (existing !== undefined) return { kind: "in_progress", run: existing };
    const plan = await plans.get(tenantId, definitionId, published.version);
    const receipt = await request.takeQuota?.();
    const prepared = await starter.prepare(
      plan,
      {
        ...{ tenantId, environmentId: environment.id, runKey, input, parentRunId, startAtMs: request.startAtMs },
        mail: request.mail && [request.mail],
        ...(request.id !== undefined && { id: request.id }),
        origin: {
          ...{ environment: environment.key, definition: published.key, ...origin },
          ...(published.canary !== undefined && { canary: published.canary }),
        },
      },
      request.record,
    );
    const result = await starter.store(prepared);
    if (result === "started") return { kind: "started", prepared };
    await receipt?.refund(1).catch(() => {});
    if (result === "duplicate") return { kind: "duplicate" };
    // Another run with the same key was started at the same moment. This start had no effect.
    const [record] = prepared.write.records;
    if (record !== undefined) await releaseKey(db.sql, record);
    const winner = await findByKey();
    if (winner !== undefined) return { kind: "in_progress", run: winner };
    throw fail("UNAVAILABLE", { public: "The run with this key has just ended. Try again." });
  };
}

/** The record of a start by the service itself. Repeats of a start have the same key. */
export function ownStartRecord(tenantId: TenantId, operation: string, key: string, nowMs: number): IdempotencyRecord {
  return {
    ...{ tenantId, principal: "service:workflow", operation, key, createdAt: new Date(nowMs), response: "{}" },
    // Never compared. It must not be empty, because a batched statement would not read it.
    fingerprint: Buffer.from([0]),
  };
}

function refused(reason: StartRefused["reason"], message: string): StartRefused {
  return { kind: "refused", reason, message };
}

function unpublished(definition: string, version: number | undefined): string {
  return version === undefined
    ? `There is no published workflow definition "${definition}". Publish it first.`
    : `The workflow definition "${definition}" has no version ${version}.`;
}
