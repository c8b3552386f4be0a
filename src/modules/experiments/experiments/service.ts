import { randomBytes } from "node:crypto";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { requireEnvironment, requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { notFound, type Sql, type TenantChanges, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { toViolationFailure } from "../../../platform/protojson/index.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import { nearestName } from "../../../platform/text/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Analysis } from "../analysis/index.ts";
import { changedDesign, checkStartedChange, nextPhases } from "./domain/change.ts";
import {
  type Experiment,
  type ExperimentChange,
  type ExperimentId,
  type NewExperiment,
  openExperimentsMax,
} from "./domain/experiment.ts";
import { reserveSlots } from "./domain/layer-slots.ts";
import { type ExperimentStatus, nextStatus } from "./domain/states.ts";
import { checkDesign, type DraftPlan } from "./domain/validation.ts";
import { experimentStore, type StoredChange } from "./store.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  /** The results of an experiment, for its end. */
  readonly analyse: (sql: Sql, experiment: Experiment) => Promise<Analysis>;
}

export type ExperimentService = ReturnType<typeof createExperimentService>;

export function createExperimentService({ events, changes, analyse }: Dependencies) {
  function requireAccess(context: Context, experiment: Experiment | undefined): Experiment {
    if (experiment === undefined) throw notFound("experiment");
    requireEnvironmentAccess(context, experiment.environmentKey);
    return experiment;
  }

  async function lockExperiment(context: Context, id: string): Promise<Experiment> {
    // Also locks out concurrent changes in the tenant.
    await changes.invalidate(context);
    return requireAccess(context, await experimentStore(context.sql).lock(context.tenantId, id));
  }

  async function apply(context: Context, { tenantId, id }: Experiment, change: StoredChange): Promise<Experiment> {
    return experimentStore(context.sql).update(tenantId, id, change, new Date(context.nowMs));
  }

  async function record(
    context: Context,
    type: Parameters<EventRecorder["record"]>[1],
    { id, key, environmentId }: Experiment,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await events.record(context, type, id, { key, ...data, environment_id: environmentId });
  }

  /** Ends an experiment with its results. */
  async function end(
    context: Context,
    experiment: Experiment,
    status: ExperimentStatus,
    decided: { readonly variant: string; readonly reason: string } | undefined,
  ): Promise<{ readonly ended: Experiment; readonly analysis: Analysis }> {
    const now = new Date(context.nowMs);
    const analysis = await analyse(context.sql, experiment);
    const ended = await apply(context, experiment, {
      status,
      endedAt: now,
      layerRanges: null,
      frozen: { analysis, computedAt: now.toISOString() },
      ...(decided !== undefined && {
        decision: { ...decided, verdict: analysis.verdict, decidedBy: context.principal.subject },
      }),
    });
    return { ended, analysis };
  }

  return {
    async getExperiment(context: Context, id: string): Promise<Experiment> {
      return requireAccess(context, await experimentStore(context.sql).find(context.tenantId, id));
    },

    async validateExperiment(context: Context, input: NewExperiment): Promise<DraftPlan> {
      await requireEnvironment(context, input.environmentId);
      return checkDesign(input.design);
    },

    async createExperiment(context: Context, input: NewExperiment): Promise<Experiment> {
      const { sql, tenantId, nowMs } = context;
      const { violations } = checkDesign(input.design);
      if (violations.length > 0) throw toViolationFailure(violations);
      const store = experimentStore(sql);
      const environment = await requireEnvironment(context, input.environmentId);
      // Also locks out concurrent creation in the tenant, so that the count stays correct.
      await changes.invalidate(context);
      if (await store.hasAtLeast(tenantId, openExperimentsMax)) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${openExperimentsMax} experiments that have not ended. End or delete one first.`,
        });
      }
      const salt = () => randomBytes(16).toString("hex");
      const experiment = await store.insert({
        ...input,
        tenantId,
        id: ulid(nowMs) as ExperimentId,
        environmentId: environment.id,
        environmentKey: environment.key,
        status: "draft",
        salts: { allocation: salt(), variant: salt(), unit: salt() },
        layerRanges: null,
        phases: [],
        startedAt: null,
        endedAt: null,
        decision: null,
        minima: {},
        lastVerdict: "",
        ...newStamps(nowMs),
      });
      if (experiment === undefined) {
        throw fail("ALREADY_EXISTS", {
          public: `The environment ${environment.key} already has an experiment with the key ${input.key}.`,
        });
      }
      await record(context, "experiment.created", experiment, {
        variants: input.design.variants.map(({ key }) => key),
      });
      return experiment;
    },

    async updateExperiment(
      context: Context,
      id: string,
      change: ExperimentChange,
      expectedVersion: number | undefined,
    ): Promise<Experiment> {
      const { design: designChange, removesLayer, ...texts } = change;
      const store = experimentStore(context.sql);
      if (isEmptyChange(texts) && isEmptyChange(designChange) && !removesLayer) {
        const current = requireAccess(context, await store.find(context.tenantId, id));
        return unchangedRecord(current, expectedVersion, "experiment");
      }
      const current = await lockExperiment(context, id);
      if ((expectedVersion ?? current.recordVersion) !== current.recordVersion) {
        throw updateRefusal(current, "experiment");
      }
      nextStatus(current.status, "update");
      const design = changedDesign(current.design, change);
      const { violations } = checkDesign(design);
      if (violations.length > 0) throw toViolationFailure(violations);
      const isStarted = current.status !== "draft";
      if (isStarted) checkStartedChange(current, design);
      const phases = isStarted ? nextPhases(current.phases, design, context.nowMs) : current.phases;
      const changed = await apply(context, current, { ...texts, design, phases });
      const fields = changedFields({ ...texts, ...designChange, ...(removesLayer && { layer: null }) });
      await record(context, "experiment.updated", changed, { fields });
      if (phases !== current.phases) {
        const { number, weights, allocationPct } = phases.at(-1)!;
        const data = { phase: number, weights, allocation_pct: allocationPct };
        await record(context, "experiment.phase_started", changed, data);
      }
      return changed;
    },

    async deleteExperiment(context: Context, id: string): Promise<void> {
      const current = await lockExperiment(context, id);
      nextStatus(current.status, "delete");
      await experimentStore(context.sql).delete(context.tenantId, id);
      await record(context, "experiment.deleted", current);
    },

    async startExperiment(context: Context, id: string): Promise<Experiment> {
      const current = await lockExperiment(context, id);
      nextStatus(current.status, "start");
      const { design, tenantId, environmentId } = current;
      const isFirst = current.status === "draft";
      const { layer } = design;
      const store = experimentStore(context.sql);
      const started = await apply(context, current, {
        status: "running",
        ...(isFirst && {
          startedAt: new Date(context.nowMs),
          phases: nextPhases([], design, context.nowMs),
          ...(layer !== undefined && {
            layerRanges: reserveSlots(layer, await store.takenSlots(tenantId, environmentId, layer.key)),
          }),
        }),
      });
      await record(context, "experiment.started", started, { resumed: !isFirst });
      return started;
    },

    async pauseExperiment(context: Context, id: string): Promise<Experiment> {
      const current = await lockExperiment(context, id);
      nextStatus(current.status, "pause");
      const paused = await apply(context, current, { status: "paused" });
      await record(context, "experiment.paused", paused);
      return paused;
    },

    async completeExperiment(context: Context, id: string, variant: string, reason: string): Promise<Experiment> {
      const current = await lockExperiment(context, id);
      nextStatus(current.status, "complete");
      const keys = current.design.variants.map(({ key }) => key);
      if (variant !== "" && !keys.includes(variant)) {
        const nearest = nearestName(variant, keys);
        const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
        throw invalid("variant", "unknown", `must be empty or one of ${keys.join(", ")}${hint}`);
      }
      const { ended, analysis } = await end(context, current, "completed", { variant, reason });
      await record(context, "experiment.completed", ended, { variant, verdict: analysis.verdict, reason });
      return ended;
    },

    async stopExperiment(context: Context, id: string, reason: string): Promise<Experiment> {
      const current = await lockExperiment(context, id);
      nextStatus(current.status, "stop");
      const { ended } = await end(context, current, "stopped", undefined);
      await record(context, "experiment.stopped", ended, { reason });
      return ended;
    },
  };
}
