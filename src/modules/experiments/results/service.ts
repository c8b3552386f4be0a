import type { Context } from "../../../chain/call.ts";
import { requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import { requireFound, type Sql } from "../../../platform/db/index.ts";
import { type Analysis, analyse } from "../analysis/index.ts";
import { type Experiment, experimentStore, nextStatus, planOf } from "../experiments/index.ts";
import { type Point, thin } from "./domain/history.ts";
import { readPoints } from "./history-store.ts";
import { readPhases } from "./moment-store.ts";

/** The results of an experiment. */
export interface Results {
  readonly experiment: Experiment;
  readonly analysis: Analysis;
  readonly isFrozen: boolean;
  readonly computedAt: Date;
}

const pointsMax = 500;

/** Analyses what is counted so far. */
export async function analyseExperiment(sql: Sql, experiment: Experiment): Promise<Analysis> {
  return analyse(planOf(experiment.design), await readPhases(sql, experiment), experiment.minima);
}

async function requireExperiment(context: Context, id: string): Promise<Experiment> {
  const { sql, tenantId } = context;
  const experiment = requireFound(await experimentStore(sql).find(tenantId, id), "experiment");
  requireEnvironmentAccess(context, experiment.environmentKey);
  nextStatus(experiment.status, "results");
  return experiment;
}

async function readFrozen(sql: Sql, tenantId: TenantId, id: string): Promise<Pick<Results, "analysis" | "computedAt">> {
  const { analysis, computedAt } = (await experimentStore(sql).findFrozen(tenantId, id))!;
  return { analysis, computedAt: new Date(computedAt) };
}

export const resultService = {
  /** The results: current ones, or those at the end. */
  async getResults(context: Context, id: string): Promise<Results> {
    const { sql, tenantId, nowMs } = context;
    const experiment = await requireExperiment(context, id);
    if (experiment.endedAt !== null) {
      return { experiment, isFrozen: true, ...(await readFrozen(sql, tenantId, id)) };
    }
    const analysis = await analyseExperiment(sql, experiment);
    return { experiment, analysis, isFrozen: false, computedAt: new Date(nowMs) };
  },

  /** The results over time. */
  async getHistory(context: Context, id: string): Promise<readonly { readonly at: Date; readonly point: Point }[]> {
    await requireExperiment(context, id);
    return thin(await readPoints(context.sql, context.tenantId, id), pointsMax);
  },
};
