import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import type { EventReader } from "../events/index.ts";
import { deliveryStore } from "./deliveries/delivery-store.ts";
import { isFor } from "./domain/fan-out.ts";
import type { Replay } from "./domain/replay.ts";
import { type EndpointRef, endpointStore } from "./endpoints/endpoint-store.ts";
import { replayStore } from "./replays/replay-store.ts";

/** The kind of the job that sends a time range once more. */
export const replayKind = "webhooks.replay";

/** The kind of the job that removes the deliveries of a deleted endpoint. */
export const forgetEndpointKind = "webhooks.forget_endpoint";

const hourMs = 3_600_000;
const rowsAtOnce = 5000;
const eventsAtOnce = 500;

interface Parts {
  readonly db: Database;
  readonly reader: EventReader;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
  /** Tells this node's sender that an endpoint has something due. */
  readonly onDue: (endpoint: EndpointRef) => void;
}

/** The background work of webhooks, besides following logs and sending. */
export function webhookJobs(parts: Parts): JobKind[] {
  return [replayJob(parts), forgetEndpointJob(parts.db.sql), forgetDeliveriesJob(parts)];
}

/** Goes through a time range bite by bite. How far it came is kept with each bite, so that another node can go on. */
function replayJob({ db, reader, clock, onDue }: Parts): JobKind {
  return {
    kind: replayKind,
    async handler({ tenantId, payload, signal }) {
      const { replayId } = payload as { replayId: string };
      for (let replay: Replay | undefined; ; ) {
        signal.throwIfAborted();
        replay = await db.transaction((tx) => replayBite(tx, reader, tenantId as TenantId, replayId, clock.now()));
        if (replay !== undefined) onDue(replay);
        if (replay?.status !== "running") return;
      }
    },
  };
}

async function replayBite(
  tx: Sql,
  reader: EventReader,
  tenantId: TenantId,
  replayId: string,
  nowMs: number,
): Promise<Replay | undefined> {
  const replay = await replayStore(tx).lockRunning(tenantId, replayId);
  if (replay === undefined) return undefined;
  const ended = { ...replay, completedAt: new Date(nowMs) };
  const endpoint = await endpointStore(tx).find(tenantId, replay.endpointId);
  let next: Replay;
  if (endpoint?.status === "active") {
    const events = await reader.headsBetween(tx, tenantId, { ...replay, after: replay.position }, eventsAtOnce);
    const wanted = replay.selection === "failed" ? events : events.filter((event) => isFor(endpoint, event));
    const count = await deliveryStore(tx).replayMany(replay, wanted, replay.selection);
    const isLast = events.length < eventsAtOnce;
    next = {
      ...(isLast ? ended : replay),
      status: isLast ? "completed" : "running",
      position: events.at(-1)?.id ?? replay.position,
      replayed: replay.replayed + count,
    };
  } else {
    next = { ...ended, status: "cancelled" };
  }
  await replayStore(tx).advance(next);
  return next;
}

function forgetEndpointJob(sql: Sql): JobKind {
  return {
    kind: forgetEndpointKind,
    async handler({ tenantId, payload, signal }) {
      const { endpointId } = payload as { endpointId: string };
      const ref = { tenantId: tenantId as TenantId, endpointId };
      await runInBatches(signal, rowsAtOnce, (limit) => deliveryStore(sql).removeOf(ref, limit));
    },
  };
}

/** Forgets deliveries and replays that ended longer ago than they are kept. */
function forgetDeliveriesJob({ db, clock, retentionDays, platformTenantId }: Parts): JobKind {
  return {
    kind: "webhooks.forget_deliveries",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const nowMs = clock.now();
      const before = new Date(nowMs - retentionDays * 24 * hourMs);
      await replayStore(db.sql).cancelStale(new Date(nowMs - 24 * hourMs), new Date(nowMs));
      await runInBatches(signal, rowsAtOnce, (limit) => deliveryStore(db.sql).forget(before, limit));
      await runInBatches(signal, rowsAtOnce, (limit) => replayStore(db.sql).forget(before, limit));
    },
  };
}
