import type { TenantId } from "../platform/access/index.ts";
import type { Sql } from "../platform/db/index.ts";

/** The subject of a health report. */
export interface HealthScope {
  readonly tenantId: TenantId;
  readonly environmentId: string;
}

/** The time of a health report, by the clock of the database. */
export interface HealthTime {
  readonly now: Date;
  /** The first moment of the window. */
  readonly start: Date;
  /** The first moment after the window. */
  readonly end: Date;
  /** Runs that should have continued at this moment or earlier are idle. */
  readonly idleSince: Date;
}

/** Numbers of rows by their state. States that did not exist when the ruleset was written appear too. */
export type StateCounts = Readonly<Record<string, number>>;

/** The state of workflow runs. */
export interface RunHealth {
  /** Runs that ended in the window, by status. Only the latest are counted if there are very many. */
  readonly ended: StateCounts;
  /** Runs that are idle, by status. */
  readonly overdue: StateCounts;
  /** Dead letters by state. Only open ones are counted; others are 1 if there are any. */
  readonly letters: StateCounts;
}

/** The state of tasks that wait for a worker. */
export interface TaskHealth {
  readonly ready: number;
  /** The age of the task that has been ready the longest; 0 if there is none. */
  readonly oldestReadyMs: number;
  /** Tasks that none of the workers of their queue can run. */
  readonly incompatible: number;
}

/** The state of queue items that wait for a worker. */
export interface ItemHealth {
  readonly ready: number;
  /** The age of the oldest ready item; 0 if there is none. */
  readonly oldestReadyMs: number;
}

/** A part of the service that health reports read. */
export interface HealthSource<T> {
  /**
   * When this node last completed a pass of the background work that keeps the state of the source correct, in milliseconds of
   * `performance.now()`; undefined before the first pass.
   */
  lastPassMs(): number | undefined;
  /** Reads the state of one environment. */
  read(sql: Sql, scope: HealthScope, time: HealthTime): Promise<T>;
}

/** The sources of health reports, by name. */
export interface HealthSources {
  readonly workflow_runs: HealthSource<RunHealth>;
  readonly workflow_tasks: HealthSource<TaskHealth>;
  readonly queue_items: HealthSource<ItemHealth>;
}
