import type { Config } from "../config/index.ts";
import type { Audit } from "../platform/audit/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import type { Database, ReadReplica } from "../platform/db/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { RateLimiter } from "../platform/ratelimit/index.ts";
import type { StorageWatch } from "../platform/storage/index.ts";
import type { Metrics, Tracing } from "../platform/telemetry/index.ts";

/** The open resources that a node is built on. */
export interface Foundation {
  readonly config: Config;
  readonly db: Database;
  /** A small connection pool for reads into memory during calls. */
  readonly cacheLoadDb: Database;
  /** Where lists are read; undefined if they are read from `db`. */
  readonly replica: ReadReplica | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly audit: Audit | undefined;
  readonly limiter: RateLimiter | undefined;
  readonly isCacheReachable: (() => Promise<boolean>) | undefined;
  readonly storage: StorageWatch | undefined;
  readonly areTracesLost: () => boolean;
}
