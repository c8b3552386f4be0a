/**
 * Experiments: assigns variants to units, records outcomes, and says which variant is better.
 *
 * experiments: design and life. assignments: which variant a unit gets, with a signed receipt. scores: outcomes of units.
 * results: what the outcomes show. analysis: the statistics. retention: what is left after the end.
 */
import type { ExperimentService as Rpc } from "../../../gen/service/api/experiment_pb.ts";
import type { Handlers } from "../../chain/handlers.ts";
import { Failure } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import { isJsonObject } from "../../platform/document/index.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import type { Quotas } from "../tenancy/index.ts";
import {
  addToMoments,
  compareFailures,
  compareMeans,
  emptyMoments,
  excludesLoss,
  type GuardrailTest,
  type MetricMoments,
  testFailureShare,
  testMean,
} from "./analysis/index.ts";
import {
  type AssignContext,
  assignmentHandlers,
  createAssignmentService,
  createExposureWriter,
  createReceipts,
  createSnapshots,
} from "./assignments/index.ts";
import { createExperimentService, experimentHandlers, experimentStore } from "./experiments/index.ts";
import { experimentNames } from "./name-sources.ts";
import { analyseExperiment, createHistoryWriter, createUnitCountWorker, resultHandlers } from "./results/index.ts";
import { deleteUnitsOfEndedJob } from "./retention/index.ts";
import { createScoreService, scoreHandlers } from "./scores/index.ts";

export type { GuardrailTest };

/** The tests of guardrails and canaries. */
export type GuardrailTests = typeof guardrailTests;

/** An outcome of a routed item that is in an experiment. */
interface OutcomeScore {
  readonly tenantId: TenantId;
  readonly experimentId: string;
  readonly scoreId: string;
  readonly unit: string;
  readonly metric: string;
  readonly value: number;
  readonly observedAtMs: number;
}

interface Dependencies extends PlatformServices {
  readonly events: EventRecorder;
  readonly quotas: () => Quotas;
  /** The secret that receipts are signed with. */
  readonly receiptSecret: Buffer;
}

export function createExperiments(dependencies: Dependencies) {
  const { receiptSecret, config } = dependencies;
  const receipts = createReceipts(receiptSecret);
  const snapshots = createSnapshots(dependencies);
  const writer = createExposureWriter(dependencies);
  const service = createExperimentService({ ...dependencies, analyse: analyseExperiment });
  // A score that was accepted in time is committed before its request times out.
  const graceMs = 2 * config["api.request_timeout_s"] * 1000;
  const assignments = createAssignmentService({ ...dependencies, snapshots, receipts, writer, graceMs });
  const scores = createScoreService({ ...dependencies, assignments, receipts });
  const history = createHistoryWriter(dependencies);
  const maturing = createUnitCountWorker({ ...dependencies, history });
  return {
    handlers: {
      "service.api.ExperimentService": {
        ...experimentHandlers(service),
        ...assignmentHandlers({ service: assignments, receipts }),
        ...scoreHandlers(scores),
        ...resultHandlers,
      } satisfies Handlers<typeof Rpc>,
    },
    jobs: [
      deleteUnitsOfEndedJob({
        ...dependencies,
        sql: dependencies.db.sql,
        retentionDays: config["experiment.retention_days"],
      }),
    ],
    guardrailTests,
    /** Assigns a routed item to experiments of its environment. An experiment that cannot assign it is left out. */
    async assignItem(
      context: AssignContext,
      environmentId: string,
      keys: readonly string[],
      unit: string,
      attributes: Readonly<Record<string, unknown>>,
    ) {
      return Promise.all(
        keys.map(async (key) => {
          const none = { key, id: "", variant: "", reason: "not_found", pool: "" };
          const compiled = await snapshots.findByKey(context.tenantId, environmentId, key);
          if (compiled === undefined) return none;
          try {
            const [found] = await assignments.assignUnits(context, compiled, [{ unit, attributes, covariates: {} }]);
            const { variant, reason, value } = found!;
            const pool = isJsonObject(value) && typeof value.pool === "string" ? value.pool : "";
            return { key, id: compiled.experiment.id, variant, reason, pool };
          } catch (error) {
            if (!(error instanceof Failure)) throw error;
            return { ...none, reason: error.code.toLowerCase() };
          }
        }),
      );
    },
    /** Records outcomes of routed items in a transaction. Metrics that an experiment does not have are left out. */
    async recordOutcomes(tx: Sql, outcomes: readonly OutcomeScore[], nowMs: number): Promise<void> {
      const byExperiment = Map.groupBy(outcomes, ({ experimentId }) => experimentId);
      const found = await Promise.all(
        [...byExperiment].map(async ([id, own]) => {
          const compiled = await snapshots.find(own[0]!.tenantId, id);
          const known = compiled?.experiment.design.metrics.map(({ key }) => key) ?? [];
          const inputs = own
            .filter(({ metric }) => known.includes(metric))
            .map((each) => ({ ...each, receipt: "", denominator: undefined }));
          return compiled === undefined ? [] : [{ compiled, inputs }];
        }),
      );
      await scores.recordOwn(tx, found.flat(), nowMs);
    },
    /** Which of these keys belong to experiments of a tenant, in any environment. */
    findExperiments: (sql: Sql, tenantId: TenantId, keys: readonly string[]) =>
      experimentStore(sql).findKeys(tenantId, keys),
    /** The id of an experiment of an environment by its key; undefined if it has none. */
    async findExperimentId(tenantId: TenantId, environmentId: string, key: string): Promise<string | undefined> {
      return (await snapshots.findByKey(tenantId, environmentId, key))?.experiment.id;
    },
    workers: [maturing],
    names: experimentNames,
    async idle() {
      await writer.idle();
      await scores.idle();
    },
  } satisfies Area & Record<string, unknown>;
}

const guardrailTests = {
  testFailureShare,
  /** Whether the mean of values is below or above a limit. */
  testMean: (values: readonly number[], limit: number) => testMean(momentsOf(values), limit),
  compareFailures,
  excludesLoss,
  /** Whether the mean of a canary is below or above that of its baseline. */
  compareMeans: (canary: readonly number[], baseline: readonly number[], canaryShare: number) =>
    compareMeans(momentsOf(canary), momentsOf(baseline), canaryShare),
};

function momentsOf(values: readonly number[]): MetricMoments {
  const moments = emptyMoments();
  for (const value of values) addToMoments(moments, { value });
  return moments;
}
