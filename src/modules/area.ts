import type { ServiceHandlers } from "../chain/call.ts";
import type { Config } from "../config/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import type { Keyring } from "../platform/crypto/index.ts";
import type { Cursors } from "../platform/cursor/index.ts";
import type { Backlog, Database, Signals, TenantChanges } from "../platform/db/index.ts";
import type { EgressGuard } from "../platform/egress/index.ts";
import type { EventLoopScheduler } from "../platform/event-loop/index.ts";
import type { JobKind, JobRunner } from "../platform/jobs/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { Metrics } from "../platform/telemetry/index.ts";
import type { NameSource } from "./name-source.ts";

/** The platform services that every area is built on. */
export interface PlatformServices {
  readonly config: Config;
  readonly db: Database;
  /** A small connection pool for reads into memory during calls. */
  readonly cacheLoadDb: Database;
  readonly signals: Signals;
  readonly changes: TenantChanges;
  readonly shares: EventLoopScheduler;
  readonly jobs: JobRunner;
  readonly cursors: Cursors;
  readonly keyring: Keyring | undefined;
  readonly egress: EgressGuard;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => TenantId;
}

/** A background loop, started on nodes with the role `worker` or `all`. */
export interface BackgroundWorker {
  start(): void | Promise<void>;
  stop(): void | Promise<void>;
}

/** An area's contribution to a node. */
export interface Area {
  /** Handlers by the full name of their service. */
  readonly handlers: Readonly<Record<string, ServiceHandlers>>;
  readonly jobs: readonly JobKind[];
  /** In start order. */
  readonly workers: readonly BackgroundWorker[];
  /** Loops of every node, whatever its role, in start order. */
  readonly services?: readonly BackgroundWorker[];
  /** What metrics show as work that waits. */
  readonly backlogs?: readonly Backlog[];
  /** What people call its records. */
  readonly names?: readonly NameSource[];
  /** Ends the calls that wait. A stopping node calls it first. */
  readonly endWaits?: () => void;
  /** Resolves when nothing is being written or performed. Called when calls and workers have ended. */
  readonly idle?: () => Promise<unknown>;
  /** Closes connections. Called last. */
  readonly close?: () => unknown;
}
