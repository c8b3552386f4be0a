import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../../platform/access/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { newStamps } from "../../../../platform/records/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { databaseNow } from "../database-time.ts";
import { subjectsOf } from "../domain/pack.ts";
import {
  deadlineDefaultS,
  leaseDefaultS,
  leaseEnd,
  openRunsMax,
  type Run,
  type RunMode,
  requireMode,
  statusAt,
} from "../domain/run.ts";
import { leaseLost, requirePossible } from "../domain/run-states.ts";
import { appliesTo, type ReceiptType } from "../domain/subject.ts";
import type { EvidenceMetrics } from "../metrics.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { packStore } from "../packs/pack-store.ts";
import { runStore } from "./run-store.ts";
import { createToken, digestOfToken } from "./run-token.ts";

export interface NewRun {
  readonly type: ReceiptType;
  readonly mode: RunMode;
  readonly claim: boolean;
  /** 0 for the default. */
  readonly leaseS: number;
  readonly deadlineS: number;
}

/** A run, with the token of its lease if the call claimed it. */
export interface ClaimedRun {
  readonly run: Run;
  readonly token: string;
}

interface Dependencies {
  readonly events: EventRecorder;
  readonly changes: PackChanges;
  readonly metrics: EvidenceMetrics;
}

export type RunService = ReturnType<typeof createRunService>;

export function createRunService({ events, changes, metrics }: Dependencies) {
  /** Returns a run of an environment, which is named by its id or its key. */
  function requireAccess(context: Context, run: Run | undefined, environment: string): Run {
    if (run === undefined || (run.environmentId !== environment && run.environmentKey !== environment)) {
      throw notFound("evidence run");
    }
    requireEnvironmentAccess(context, run.environmentKey);
    return run;
  }

  /** Locks a run; returns it with its status at the time of the database. */
  async function lock(context: Context, environmentId: string, id: string): Promise<{ run: Run; now: Date }> {
    const found = requireAccess(context, await runStore(context.sql).lock(context.tenantId, id), environmentId);
    const now = await databaseNow(context.sql);
    return { run: { ...found, status: statusAt(found, now.getTime()) }, now };
  }

  async function record(
    context: Context,
    type: Parameters<EventRecorder["record"]>[1],
    { id, packId, environmentId }: Run,
    data: Record<string, unknown>,
  ): Promise<void> {
    await events.record(context, type, id, { ...data, pack_id: packId, environment_id: environmentId });
  }

  /** Gives a locked run a new lease, which makes every earlier token invalid. */
  async function claim(context: Context, run: Run, now: Date): Promise<ClaimedRun> {
    const fence = run.fence + 1;
    const { token, tokenDigest } = createToken(fence);
    const leaseUntil = leaseEnd(run, now.getTime());
    const claimed = await runStore(context.sql).save(
      { ...run, status: "running", fence, tokenDigest, leaseUntil },
      now,
    );
    await record(context, "evidence.run.claimed", claimed, { fence });
    return { run: claimed, token };
  }

  /** Throws LEASE_LOST unless the token holds the lease of a running run. */
  function requireHolder(run: Run, token: string): void {
    if (run.status !== "running" || run.tokenDigest !== digestOfToken(token)) throw leaseLost(run.status);
  }

  async function end(context: Context, ended: Run, now: Date): Promise<Run> {
    const stored = await runStore(context.sql).save({ ...ended, tokenDigest: "", leaseUntil: null, endedAt: now }, now);
    const { status, receiptId } = stored;
    await record(context, "evidence.run.ended", stored, { status, receipt_id: receiptId });
    context.afterCommit(() => metrics.runEnded(status));
    return stored;
  }

  return {
    async getRun(context: Context, environmentId: string, id: string): Promise<Run> {
      return requireAccess(context, await runStore(context.sql).find(context.tenantId, id), environmentId);
    },

    async startRun(context: Context, environmentId: string, packId: string, input: NewRun): Promise<ClaimedRun> {
      const { sql, tenantId, nowMs } = context;
      const { pack, now } = await changes.lock(context, environmentId, packId, "start_run");
      const { type, mode } = input;
      requireMode(pack.environmentMode, mode);
      const artifacts = await packStore(sql).readArtifacts(tenantId, packId);
      const subjects = subjectsOf(artifacts).filter(({ kind }) => appliesTo(type, kind));
      if (subjects.length === 0) {
        throw fail("FAILED_PRECONDITION", { public: `The pack has no artifact that a ${type} run could check.` });
      }
      if ((await runStore(sql).countOpen(tenantId, packId)) >= openRunsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A pack can have at most ${openRunsMax} runs that have not ended. Cancel one first.`,
        });
      }
      const run = await runStore(sql).insert({
        tenantId,
        id: ulid(nowMs),
        packId,
        environmentId: pack.environmentId,
        environmentKey: pack.environmentKey,
        candidateId: pack.attachment?.candidateId ?? "",
        ...{ type, mode, subjects, status: "pending", fence: 0, tokenDigest: "", leaseUntil: null },
        leaseS: input.leaseS || leaseDefaultS,
        deadlineAt: new Date(now.getTime() + (input.deadlineS || deadlineDefaultS) * 1000),
        ...{ endedAt: null, reason: "", receiptId: "" },
        ...newStamps(nowMs),
      });
      await record(context, "evidence.run.started", run, { type, mode, candidate_id: run.candidateId });
      return input.claim ? claim(context, run, now) : { run, token: "" };
    },

    /** Claims a run that nobody holds, or renews the lease of a token. */
    async heartbeat(context: Context, environmentId: string, id: string, token: string): Promise<ClaimedRun> {
      const { run, now } = await lock(context, environmentId, id);
      if (token === "") {
        requirePossible(run.status, "claim");
        return claim(context, run, now);
      }
      requireHolder(run, token);
      const renewed = { ...run, leaseUntil: leaseEnd(run, now.getTime()) };
      return { run: await runStore(context.sql).save(renewed, now), token: "" };
    },

    async cancelRun(context: Context, environmentId: string, id: string, reason: string): Promise<Run> {
      const { run, now } = await lock(context, environmentId, id);
      requirePossible(run.status, "cancel");
      return end(context, { ...run, status: "cancelled", reason }, now);
    },

    /** Locks the run of a receipt. Throws unless the token holds its lease. */
    async lockForReport(context: Context, environmentId: string, id: string, token: string): Promise<Run> {
      const { run } = await lock(context, environmentId, id);
      requireHolder(run, token);
      return run;
    },

    async endWith(context: Context, run: Run, receiptId: string, isPassed: boolean, now: Date): Promise<void> {
      await end(context, { ...run, status: isPassed ? "succeeded" : "failed", receiptId }, now);
    },
  };
}
