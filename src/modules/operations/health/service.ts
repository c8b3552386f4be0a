import type { Context } from "../../../chain/call.ts";
import { productionKey, requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import { requireFound, type Sql } from "../../../platform/db/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { HealthScope, HealthSource, HealthSources, HealthTime } from "../../health-source.ts";
import { combineDependencies, combineSources } from "./domain/observation.ts";
import { readPeriod } from "./domain/period.ts";
import { createReport, type Report, type ReportScope, windowBefore } from "./domain/report.ts";
import { ruleset } from "./domain/ruleset.ts";
import { readObservations } from "./observation-store.ts";
import type { ReportCache } from "./report-cache.ts";

/** An environment of a tenant. */
export interface HealthEnvironment {
  readonly id: string;
  readonly key: string;
}

/** Reads the environments of tenants. */
export interface HealthEnvironments {
  find(sql: Sql, tenantId: TenantId, idOrKey: string): Promise<HealthEnvironment | undefined>;
  /** Lists the environments that a caller may use. */
  list(context: Pick<Context, "sql" | "tenantId" | "principal">, page: Page): Promise<PageRows<HealthEnvironment>>;
}

interface Dependencies {
  readonly environments: HealthEnvironments;
  readonly sources: () => HealthSources;
  readonly cache: ReportCache<Report>;
  readonly metrics: Pick<Metrics, "counter">;
  readonly log: Pick<Log, "warn">;
  /** How long ended runs are stored. */
  readonly retentionDays: number;
}

type ReportContext = Pick<Context, "sql" | "tenantId" | "principal">;

/** Computes health reports. */
export type HealthService = ReturnType<typeof createHealthService>;

export function createHealthService({ environments, sources, cache, metrics, log, retentionDays }: Dependencies) {
  // Reports from the cache are not counted.
  const computed = metrics.counter({
    name: "operational_health_reports_total",
    help: "Health reports that were computed, by verdict.",
    labels: ["verdict"],
  });

  /** Reads a source. A source that fails makes its signals unknown; its error stays in the log. */
  async function readSource<T>(
    [name, source]: readonly [string, HealthSource<T>],
    sql: Sql,
    scope: HealthScope,
    time: HealthTime,
  ): Promise<T | undefined> {
    try {
      return await source.read(sql, scope, time);
    } catch (error) {
      log.warn({ err: error, source: name }, "a source of health reports could not be read");
      return undefined;
    }
  }

  async function compute(sql: Sql, scope: ReportScope, periodMs: number): Promise<Report> {
    const { now, observations } = await readObservations(sql);
    const window = windowBefore(now.getTime(), periodMs);
    const idleSince = new Date(now.getTime() - ruleset.idleRunS * 1000);
    const time = { now, idleSince, start: new Date(window.startMs), end: new Date(window.endMs) };
    const { workflow_runs, workflow_tasks, queue_items } = sources();
    const [runs, tasks, items] = await Promise.all([
      readSource(["workflow_runs", workflow_runs], sql, scope, time),
      readSource(["workflow_tasks", workflow_tasks], sql, scope, time),
      readSource(["queue_items", queue_items], sql, scope, time),
    ]);
    const observation = {
      ...{ sources: combineSources(observations), dependencies: combineDependencies(observations) },
      ...{ runs, tasks, items },
    };
    const report = createReport(scope, window, observation, now.getTime());
    computed.inc({ verdict: report.verdict });
    return report;
  }

  return {
    /** Returns the report of an environment. The caller's access is checked before the cache and the sources are read. */
    async getReport(context: ReportContext, environment: string, period: string): Promise<Report> {
      const { sql, tenantId } = context;
      const found = requireFound(await environments.find(sql, tenantId, environment || productionKey), "environment");
      requireEnvironmentAccess(context, found.key);
      const periodMs = readPeriod(period, retentionDays);
      const scope = { tenantId, environmentId: found.id, environment: found.key };
      return cache.get(`${tenantId}/${found.id}/${periodMs}`, () => compute(sql, scope, periodMs));
    },

    /** Lists the environments that the caller may get reports of. */
    listScopes: environments.list,
  };
}
