import type { OperationCaller } from "../../../../chain/operation-caller.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createTenantConcurrencyLimiter } from "../../../../platform/event-loop/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Json } from "../../definitions/index.ts";
import type { Effect } from "../domain/engine/advance-result.ts";
import type { Failure, RunEvent } from "../domain/engine/state.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import { performAction } from "./action-effect.ts";
import type { ChildResult } from "./child-run.ts";
import { toEffectFailure } from "./effect-failure.ts";
import {
  type FindExperimentId,
  type FindPoolId,
  performExperiment,
  performNotify,
  performRoute,
} from "./operation-effects.ts";
import { otherRegionOf } from "./regional-effects.ts";
import { performStreamAppend, performStreamRead } from "./stream-effect.ts";

interface Dependencies {
  readonly log: Log;
  readonly call: OperationCaller;
  readonly findPoolId: FindPoolId;
  readonly findExperimentId: FindExperimentId;
  readonly startChild: (parent: LiveRun, effect: Effect) => Promise<ChildResult | undefined>;
  /** Has a node of another region perform an effect. */
  readonly handOver: (run: LiveRun, effect: Effect, toRegion: string) => Promise<void>;
  /** Applies the result of an effect to its run. */
  readonly apply: (tenantId: TenantId, runId: string, event: RunEvent) => Promise<unknown>;
}

/** The effects of one tenant that are performed at a time. */
const concurrency = 32;

const failureCodes = {
  route: "route_rejected",
  notify: "notify_failed",
  action: "action_failed",
  experiment: "experiment_failed",
  subworkflow: "subworkflow_failed",
  stream_append: "append_failed",
  stream_read: "read_failed",
} as const;

/** Creates the runner of this node, which performs the effects of runs after their commit. */
export function createEffectRunner(dependencies: Dependencies) {
  const { log, call, findPoolId, findExperimentId, startChild, handOver, apply } = dependencies;
  const limiter = createTenantConcurrencyLimiter(concurrency);
  /** Effects that wait or are being performed, by run, step and attempt. */
  const open = new Map<string, Promise<void>>();

  async function resultOf(run: LiveRun, effect: Effect): Promise<{ output: Json } | { failure: Failure } | undefined> {
    const { kind, key, attempt, request } = effect;
    const origin = {
      tenantId: run.tenantId,
      subject: "service:workflow",
      idempotencyKey: `${run.id}:${key}:${attempt}`,
      requestId: run.id,
    };
    switch (kind) {
      case "route":
        return { output: await performRoute(call, findPoolId, run, origin, request) };
      case "notify":
        return { output: await performNotify(call, origin, request) };
      case "action":
        return { output: await performAction(call, { ...origin, environmentKey: run.origin.environment }, request) };
      case "stream_append":
        return { output: await performStreamAppend(call, run.id, origin, request) };
      case "stream_read":
        return { output: await performStreamRead(call, run.id, origin, request) };
      case "experiment":
        return { output: await performExperiment(call, findExperimentId, run, origin, request) };
      case "subworkflow":
        return startChild(run, effect);
    }
  }

  async function perform(run: LiveRun, effect: Effect): Promise<void> {
    const { key, attempt, kind } = effect;
    let result: { output: Json } | { failure: Failure } | undefined;
    try {
      result = await resultOf(run, effect);
    } catch (error) {
      const region = otherRegionOf(error);
      if (region !== undefined) return handOver(run, effect, region);
      const failure = toEffectFailure(error, failureCodes[kind]);
      // Without a known outcome, the effect is performed again when the run checks it.
      if (failure === undefined) log.warn({ err: error, kind }, "the outcome of a workflow step is unknown");
      else result = { failure };
    }
    if (result === undefined) return;
    const event: RunEvent =
      "output" in result
        ? { kind: "effect_succeeded", key, attempt, output: result.output }
        : { kind: "effect_failed", key, attempt, ...result.failure };
    await apply(run.tenantId, run.id, event);
  }

  return {
    /** Performs effects in the background. A check of an effect that is not finished yet does not queue it again. */
    perform(run: LiveRun, effects: readonly Effect[]): void {
      for (const effect of effects) {
        const name = `${run.id}:${effect.key}`;
        const attemptName = `${name}:${effect.attempt}`;
        if (open.has(attemptName)) continue;
        const done = limiter
          .run(run.tenantId, name, () => perform(run, effect))
          .catch((error) => log.warn({ err: error }, "the result of a workflow step could not be stored"))
          .finally(() => open.delete(attemptName));
        open.set(attemptName, done);
      }
    },

    /** Resolves when no effect is being performed. */
    async idle(): Promise<void> {
      while (open.size > 0) await Promise.allSettled(open.values());
    },
  };
}
