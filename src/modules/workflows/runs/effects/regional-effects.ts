import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { enqueueJobs, type JobKind, type JobRunner } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Effect } from "../domain/engine/advance-result.ts";
import { isAttemptOpen, type RunState } from "../domain/engine/state.ts";
import { type LiveRun, loadRuns } from "../storage/run-loader.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly jobs: Pick<JobRunner, "wake">;
  /** The region of this node. */
  readonly region: string;
  readonly perform: (run: LiveRun, effects: readonly Effect[]) => void;
}

/** An effect as its job names it. */
type HandedEffect = Pick<Effect, "key" | "attempt" | "kind"> & { readonly run_id: string };

/** The region whose nodes may perform an effect that this node may not; undefined if there is none. */
export function otherRegionOf(error: unknown): string | undefined {
  if (!(error instanceof Failure) || error.code !== "REGION_NOT_ALLOWED") return undefined;
  return (error.extra as { readonly allowed_regions?: readonly string[] }).allowed_regions?.[0];
}

/**
 * Hands effects to nodes of other regions, with jobs that only those nodes lease. The owner of the run's shard repeats an effect
 * without a result, so a job that is lost is handed over again.
 */
export function createRegionalEffects({ db, clock, jobs, region, perform }: Dependencies) {
  const kindOf = (name: string) => `workflow.effect:${name}`;

  const job: JobKind = {
    kind: kindOf(region),
    async handler({ tenantId, payload }) {
      const { run_id: id, key, attempt, kind } = payload as HandedEffect;
      const [run] = await loadRuns(db.sql, [{ tenantId: tenantId as TenantId, id }]);
      if (run === undefined) return;
      const state = JSON.parse(run.stateJson) as RunState;
      const activity = state.active[key];
      if (activity?.s !== "effect" || !isAttemptOpen(state, key, attempt)) return;
      perform(run, [{ key, attempt, kind, request: activity.request, childId: undefined }]);
    },
  };

  return {
    job,
    async handOver({ tenantId, id }: LiveRun, { key, attempt, kind }: Effect, toRegion: string): Promise<void> {
      const nowMs = clock.now();
      const payload: HandedEffect = { run_id: id, key, attempt, kind };
      const dedupeKey = `${id}:${key}:${attempt}`;
      const effect = { tenantId, kind: kindOf(toRegion), payload, runAt: new Date(nowMs), dedupeKey };
      await enqueueJobs(db.sql, [effect], nowMs);
      jobs.wake();
    },
  };
}
