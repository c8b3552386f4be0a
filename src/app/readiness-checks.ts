import type { Config } from "../config/index.ts";
import type { ComponentHealth, HealthCheck } from "../gateway/health.ts";
import { backupProblem } from "../platform/backup/index.ts";
import type { DatabaseClock } from "../platform/clock/database-clock.ts";
import type { RedisLimiter } from "../platform/ratelimit/index.ts";
import type { StorageWatch } from "../platform/storage/index.ts";
import type { Node } from "./compose.ts";

interface CheckParts {
  readonly config: Config;
  readonly node: Node;
  readonly clock: DatabaseClock;
  readonly database: () => Promise<void>;
  readonly redis: RedisLimiter | undefined;
  readonly storage: StorageWatch;
  readonly worker: boolean;
}

/** Creates the readiness checks. The database and its time are required; the cache only if calls fail without it. */
export function readinessChecks({
  config,
  node,
  clock,
  database,
  redis,
  storage,
  worker,
}: CheckParts): Record<string, HealthCheck> {
  const ok: ComponentHealth = { status: "ok" };
  return {
    database: () => database().then(() => ok),
    cache: async () => {
      if (redis === undefined || (await isReachable(redis))) return ok;
      const closed = config["ratelimit.fail_mode"] === "closed";
      return { status: closed ? "unhealthy" : "degraded", detail: "the cache does not respond" };
    },
    queue: async () => {
      await node.jobs.ping();
      return !worker || node.jobs.isAlive() ? ok : { status: "degraded", detail: "background work has stalled" };
    },
    ...(config["backup.backend"] !== "none" && {
      backup: async () => {
        const problem = backupProblem(config["data.dir"], Date.now());
        return problem === undefined ? ok : { status: "degraded", detail: problem.summary };
      },
    }),
    // What is full still serves reads, and completes work.
    storage: async () => {
      const detail = storage.describe();
      return detail === undefined ? ok : { status: "degraded", detail };
    },
    clock: async () => (clock.isFenced() ? { status: "unhealthy", detail: describeSkew(clock.skewMs()) } : ok),
  };
}

function describeSkew(skewMs: number): string {
  const direction = skewMs > 0 ? "ahead of" : "behind";
  return `the clock of this machine is ${Math.round(Math.abs(skewMs) / 1000)} s ${direction} the database's`;
}

/** Whether the cache answers. */
export function isReachable(redis: RedisLimiter): Promise<boolean> {
  return redis.ping().then(
    () => true,
    () => false,
  );
}
