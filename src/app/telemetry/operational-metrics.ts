import { type HealthCheck, readReadiness } from "../../gateway/health.ts";
import { type Backlog, type BacklogState, type Database, readBacklogs } from "../../platform/db/index.ts";
import type { Metrics } from "../../platform/telemetry/index.ts";

interface Dependencies {
  readonly metrics: Pick<Metrics, "gauge">;
  readonly db: Database;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly backlogs: readonly Backlog[];
}

/** How long a scrape waits for the database. Without it, the other metrics are still shown. */
const readMs = 500;

/** Creates the gauges that say whether this node can work, and whether the work keeps up. They are read at every scrape. */
export function createOperationalMetrics({ metrics, db, checks, backlogs }: Dependencies): void {
  const readChecks = latestOf(async () => Object.entries((await readReadiness(true, checks)).components), []);
  metrics.gauge({
    name: "unhealthy_components",
    help: "Components that do not work for this process, as /ready shows them: 1 if degraded or unhealthy, else 0.",
    labels: ["component"],
    async collect(gauge) {
      for (const [component, { status }] of await readChecks()) gauge.set({ component }, status === "ok" ? 0 : 1);
    },
  });
  metrics.gauge({
    name: "database_connections",
    help: "Open connections to the database, by state: busy or idle.",
    labels: ["state"],
    collect(gauge) {
      const { busy, idle } = db.load();
      gauge.set({ state: "busy" }, busy);
      gauge.set({ state: "idle" }, idle);
    },
  });
  metrics.gauge({
    name: "database_connections_max",
    help: "The most connections to the database that may be open.",
    collect: (gauge) => gauge.set(db.load().max),
  });
  metrics.gauge({
    name: "database_waiting",
    help: "Statements and transactions that wait for a connection to the database.",
    collect: (gauge) => gauge.set(db.load().waiting),
  });
  createBacklogMetrics(metrics, db, backlogs);
}

function createBacklogMetrics(metrics: Pick<Metrics, "gauge">, db: Database, backlogs: readonly Backlog[]): void {
  /** Both gauges of a scrape share one statement. */
  const read = latestOf((): Promise<readonly BacklogState[]> => readBacklogs(db, backlogs).catch(() => []), []);
  const gauge = (name: string, help: string, valueIn: (state: BacklogState) => number) =>
    metrics.gauge({
      ...{ name, help, labels: ["backlog"], isShared: true },
      async collect(values) {
        const states = await read();
        values.reset();
        for (const state of states) values.set({ backlog: state.name }, valueIn(state));
      },
    });
  gauge(
    "backlog_rows",
    "Rows that wait: due work that nobody does yet, and open dead letters. At most 10,000 of each.",
    ({ rows }) => rows,
  );
  gauge(
    "backlog_oldest_seconds",
    "How long the longest-waiting row of a backlog has waited, among those that are counted.",
    ({ oldestMs }) => oldestMs / 1000,
  );
}

/** Reads a value, for all callers at once. While that takes too long, they get the value before, and the next ones the new one. */
function latestOf<T>(read: () => Promise<T>, initial: T): () => Promise<T> {
  let latest = initial;
  let reading: Promise<void> | undefined;
  return async () => {
    reading ??= read().then((value) => {
      latest = value;
      reading = undefined;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, readMs);
    });
    await Promise.race([reading, late]);
    clearTimeout(timer);
    return latest;
  };
}
