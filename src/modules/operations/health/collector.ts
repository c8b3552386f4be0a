import { systemClock } from "../../../platform/clock/clock.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { BackgroundWorker, PlatformServices } from "../../area.ts";
import type { HealthSource, HealthSources } from "../../health-source.ts";
import { deleteOldObservations, type NewObservation, recordObservations } from "./observation-store.ts";

/** Checks something that the service depends on. Undefined if it is not configured. */
export type DependencyCheck = (() => Promise<boolean>) | undefined;

/** The dependencies of the service, by name. */
export type DependencyChecks = Readonly<Record<"database" | "cache" | "queue", DependencyCheck>>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly log: Pick<Log, "warn">;
  readonly sources: () => Readonly<Record<keyof HealthSources, Pick<HealthSource<unknown>, "lastPassMs">>>;
  readonly dependencies: DependencyChecks;
}

/** A dependency snapshot is stale after 30 seconds. */
const everyMs = 10_000;
/** How soon to look again for the first pass of a source, and how often: a node without shards of runs has none. */
const firstPassMs = 250;
const firstPassLooks = 40;
const passAgeMaxMs = 30_000;
const checkMs = 1000;
/** Long enough to see that a node has died. */
const keptMs = 3_600_000;

/**
 * Creates the collector of this node. It stores a heartbeat for each source whose background work is alive, and the state of
 * each dependency. If it stops, its rows grow old and reports become unknown.
 */
export function createCollector({ db, clock, log, sources, dependencies }: Dependencies): BackgroundWorker {
  const nodeId = ulid(clock.now());
  let looks = 0;

  async function collect(): Promise<number> {
    const nowMs = performance.now();
    const passes = Object.entries(sources()).map(([name, { lastPassMs }]) => ({ name, passedAtMs: lastPassMs() }));
    const alive = passes.filter(({ passedAtMs }) => passedAtMs !== undefined && nowMs - passedAtMs <= passAgeMaxMs);
    const observations: NewObservation[] = [
      ...alive.map(({ name }) => ({ kind: "source" as const, name, state: "alive" })),
      ...(await Promise.all(
        Object.entries(dependencies).map(async ([name, check]) => ({
          ...{ kind: "dependency" as const, name, state: await stateOf(check) },
        })),
      )),
    ];
    await recordObservations(db.sql, nodeId, new Date(systemClock.now()), observations);
    await deleteOldObservations(db.sql, keptMs);
    const isStarting = passes.some(({ passedAtMs }) => passedAtMs === undefined) && looks++ < firstPassLooks;
    return isStarting ? firstPassMs : everyMs;
  }

  const task = createRepeatedTask({
    work: collect,
    maxWaitMs: everyMs,
    onError: (error) => log.warn({ err: error }, "the state of this node could not be stored for health reports"),
  });
  return { start: task.start, stop: task.stop };
}

/** Only the fixed names of states are stored, never an error. */
async function stateOf(check: DependencyCheck): Promise<"available" | "unavailable" | "not_configured"> {
  if (check === undefined) return "not_configured";
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), checkMs);
  });
  try {
    return (await Promise.race([check(), late])) ? "available" : "unavailable";
  } catch {
    return "unavailable";
  } finally {
    clearTimeout(timer);
  }
}
