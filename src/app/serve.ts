import { setTimeout as delay } from "node:timers/promises";
import type { Config, LoadedConfig } from "../config/index.ts";
import { createProbes, type Readiness, readReadiness } from "../gateway/health.ts";
import type { BackgroundWorker } from "../modules/area.ts";
import type { TenantId } from "../platform/access/index.ts";
import { type Backoff, backoffMs } from "../platform/backoff/backoff.ts";
import { systemClock } from "../platform/clock/clock.ts";
import { startDatabaseClock } from "../platform/clock/database-clock.ts";
import { isDatabaseAway } from "../platform/db/index.ts";
import { findSuccessor, schemaVersionTopic } from "../platform/db/schema-version.ts";
import { createRepeatedTask } from "../platform/jobs/index.ts";
import {
  createMemoryLimiter,
  openRedisLimiter,
  type RateLimiter,
  type RedisLimiter,
} from "../platform/ratelimit/index.ts";
import { createMetrics, type Metrics } from "../platform/telemetry/index.ts";
import { openAuditLog } from "./audit-log.ts";
import { addBackupMetrics } from "./backup-metrics.ts";
import { type AdminAccess, ensureAdminAccess, ensureApprover } from "./bootstrap.ts";
import { compose } from "./compose.ts";
import { openPlanes, type Planes } from "./planes.ts";
import type { StopMode } from "./processes/process-calls.ts";
import type { SupervisingProcess } from "./processes/supervising-process.ts";
import { isReachable, readinessChecks } from "./readiness-checks.ts";
import { openReadReplica, openStorage, watchStorage } from "./storage.ts";
import { createOperationalMetrics } from "./telemetry/operational-metrics.ts";
import { namedTenantsMax, openTelemetry, type Telemetry } from "./telemetry/process-telemetry.ts";
import { release, version } from "./version.ts";

/** The work of a node: serve calls (`api`), run background work (`worker`), or both (`all`). */
export type Role = "all" | "api" | "worker";

/** A running node. */
export interface Service {
  readonly planes: Planes;
  readonly metrics: Metrics;
  /** The operator's admin key, if it may be shown. */
  readonly admin: AdminAccess | undefined;
  /** A link that signs a browser in as the operator, once, if the admin key may be shown. */
  readonly loginLink: string | undefined;
  /** A link that signs a browser in as a second person, who can approve the operator's work. */
  readonly approverLink: string | undefined;
  /** Creates a link that signs a browser in as a second person of a tenant, once. */
  linkApprover(tenantId: string): Promise<string>;
  /** Resolves with the reason when the node cannot continue. */
  readonly lost: Promise<string>;
  /** Resolves with the reason when a newer version uses the database that does not run beside this one. */
  readonly outdated: Promise<string>;
  readiness(): Promise<Readiness>;
  /**
   * Finishes running calls, releases leased work, then closes. With `drain`, new callers are served for `server.drain_s`
   * seconds first. With `handover`, other processes of this machine serve new callers at once.
   */
  stop(mode?: StopMode): Promise<void>;
}

/** How often a start tries whether the database is back. */
const databaseBackoff: Backoff = { firstMs: 250, maxMs: 10_000, spread: [1, 1.2] };

/**
 * Starts a node. While an external database is away, it waits; then `stopping` ends the start with an AbortError. A test build
 * has other areas. The nodes of one machine have a supervisor.
 */
export async function serve(
  { config }: Pick<LoadedConfig, "config">,
  role: Role = "all",
  createParts?: Parameters<typeof compose>[1],
  stopping?: AbortSignal,
  supervisor?: SupervisingProcess,
): Promise<Service> {
  const telemetry = await openTelemetry(config, supervisor?.place.number);
  try {
    for (let failures = 1; ; failures++) {
      try {
        const service = await start(config, telemetry, role, createParts, supervisor);
        const stop = (mode?: StopMode) => service.stop(mode).finally(telemetry.close);
        return { ...service, stop };
      } catch (error) {
        if (config["database.url"] === "" || !isDatabaseAway(error)) throw error;
        const waitMs = backoffMs(databaseBackoff, failures, Math.random());
        telemetry.log.warn(
          { reason: (error as Error).message, waitMs },
          "the start waits for the database (database.url)",
        );
        await delay(waitMs, undefined, { signal: stopping });
      }
    }
  } catch (error) {
    await telemetry.close();
    throw error;
  }
}

/** Starts a node. If a part fails to start, the parts already started are stopped. */
async function start(
  config: Config,
  telemetry: Telemetry,
  role: Role,
  createParts: Parameters<typeof compose>[1],
  supervisor: SupervisingProcess | undefined,
): Promise<Service> {
  const { log, tracing, areTracesLost } = telemetry;
  const closers: ((mode: StopMode) => Promise<unknown> | unknown)[] = [];
  const stop = async (mode: StopMode = "now") => {
    for (const close of closers.splice(0).reverse()) {
      await Promise.resolve(close(mode)).catch((error) => log.warn({ err: error }, "a part did not stop cleanly"));
    }
  };
  try {
    const storage = await openStorage(config, log, supervisor);
    closers.push(() => storage.close());
    const { db } = storage;
    const clock = await startDatabaseClock({ db: storage.cacheLoadDb, log });
    closers.push(() => clock.stop());
    const audit = supervisor === undefined ? await openAuditLog(config, clock) : supervisor.openAudit?.(clock.now);
    closers.push(() => audit?.close());
    const cache = await cacheOf(config);
    closers.push(() => cache.redis?.close());
    const metrics = createMetrics({ tenantsMax: namedTenantsMax(config) });
    const exported = telemetry.exportMetrics(metrics);
    closers.push(() => exported.stop());
    addBackupMetrics(metrics, config);
    metrics
      .gauge({ name: "build_info", help: "The processes of each version.", labels: ["version"] })
      .set({ version }, 1);
    const replica = openReadReplica({ config, log, metrics, db });
    closers.push(() => replica?.close());
    const isCacheReachable = cache.redis && (() => isReachable(cache.redis!));
    const usage = watchStorage(config, storage, log, metrics);
    const foundation = {
      ...{ config, db, cacheLoadDb: storage.cacheLoadDb, replica, clock, log, metrics, tracing, audit },
      limiter: cache.limiter,
      isCacheReachable,
      storage: usage,
      areTracesLost,
    };
    const node = await compose(foundation, createParts);

    const { apiKeys, secrets } = node.tenancy;
    closers.push(() => node.egress.close());
    closers.push(() => Promise.all(node.all.map((area) => area.close?.())));
    await node.signals.start();
    closers.push(() => node.signals.stop());
    await node.changes.start();
    closers.push(() => node.changes.stop());
    const platform = await node.loadPlatformTenant();
    const isFirst = supervisor?.isFirst ?? true;
    const admin = isFirst ? await ensureAdminAccess({ config, db, clock, apiKeys, tenantId: platform.id }) : undefined;
    const uses = createRepeatedTask({
      async work() {
        await Promise.all([apiKeys.verifier.flushUses(), node.identity.sessions.flushUses()]);
      },
      maxWaitMs: 15_000,
      onError: (error) => log.warn({ err: error }, "could not store the last use of credentials"),
      runsAtStop: true,
    });
    const startAll = async (workers: readonly BackgroundWorker[]) => {
      for (const worker of workers) {
        await worker.start();
        closers.push(() => worker.stop());
      }
    };
    const { promise: outdated, resolve: onOutdated } = Promise.withResolvers<string>();
    const successors = createRepeatedTask({
      async work() {
        const successor = await findSuccessor(storage.cacheLoadDb.sql, release);
        if (successor !== undefined) onOutdated(successor);
      },
      onError: (error) => log.warn({ err: error }, "could not read which version uses the database"),
      subscribe: ({ run }) => [node.signals.onWake(schemaVersionTopic, run)],
    });
    await startAll([uses, successors, ...usage.tasks, ...node.all.flatMap(({ services = [] }) => services)]);
    for (const area of node.all) closers.push(() => area.idle?.());
    if (role !== "api") {
      await startAll(node.workers);
      await secrets.scheduleReencryption(clock.now());
    }

    const servingStatus = createServingStatus();
    const checks = readinessChecks({
      config,
      node,
      clock,
      database: () => db.ping(),
      redis: cache.redis,
      storage: usage,
      worker: role !== "api",
    });
    createOperationalMetrics({ metrics, db, checks, backlogs: node.backlogs });
    const readiness = () => readReadiness(servingStatus.isServing(), checks);
    const planes = await openPlanes(
      {
        ...{ config, log, metrics, node, version, health: servingStatus },
        probes: createProbes(supervisor?.readiness ?? readiness),
        renderMetrics: supervisor?.metrics ?? metrics.render,
        sharedListeners: supervisor?.listeners,
      },
      role,
    );
    closers.push((mode) =>
      planes.close({
        drainMs: mode === "drain" ? config["server.drain_s"] * 1000 : 0,
        graceMs: config["server.shutdown_grace_s"] * 1000,
        handsOver: mode === "handover",
      }),
    );
    closers.push((mode) => {
      // Behind an address that goes on to serve, a health check that says otherwise would fail calls.
      if (mode !== "handover") servingStatus.set(false);
      for (const area of node.all) area.endWaits?.();
    });
    servingStatus.set(true);
    const { identity } = node;
    const linkApprover = async (tenantId: string) => {
      const memberId = await ensureApprover(foundation, node.tenancy.members.accounts, tenantId as TenantId);
      return identity.createLoginLink(tenantId as TenantId, { memberId, apiKeyId: "" });
    };
    const isShown = admin !== undefined && role !== "worker";
    const loginLink = isShown
      ? await identity.createLoginLink(platform.id, { memberId: "", apiKeyId: admin.keyId })
      : undefined;
    const approverLink = isShown ? await linkApprover(platform.id) : undefined;
    log.info(
      { listeners: Object.fromEntries(Object.entries(planes.listeners).map(([name, { address }]) => [name, address])) },
      "serving",
    );
    return {
      ...{ planes, metrics, readiness, admin, loginLink, approverLink, linkApprover },
      ...{ lost: storage.lost, outdated, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the serving status of the node, which notifies listeners of changes. */
function createServingStatus() {
  let serving = false;
  const listeners = new Set<() => void>();
  return {
    isServing: () => serving,
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(value: boolean) {
      serving = value;
      for (const listener of listeners) listener();
    },
  };
}

interface Cache {
  readonly limiter: RateLimiter | undefined;
  readonly redis: RedisLimiter | undefined;
}

async function cacheOf(config: Config): Promise<Cache> {
  switch (config["cache.backend"]) {
    case "none":
      return { limiter: undefined, redis: undefined };
    case "memory":
      return { limiter: createMemoryLimiter(systemClock), redis: undefined };
    case "redis": {
      const redis = await openRedisLimiter({ url: config["cache.redis_url"], failMode: config["ratelimit.fail_mode"] });
      return { limiter: redis, redis };
    }
  }
}
