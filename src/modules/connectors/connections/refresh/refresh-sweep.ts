import { type JobKind, runInBatches } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { eventData } from "../grant-service.ts";
import { connectionStore } from "../store.ts";
import { type DueConnection, leaseStore } from "./lease-store.ts";
import type { RefreshCause, Refresher } from "./refresher.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly events: EventRecorder;
  readonly refresher: Pick<Refresher, "refresh">;
  readonly platformTenantId: () => string;
}

const everyMs = 15_000;
const batchSize = 200;
const concurrency = 8;
/** When a refresh token that could not be used is tried again. */
const postponeMs = 5 * 60_000;
/** After this time the credentials of a revoked connection are erased, even if its provider never answered. */
const abandonMs = 60 * 60_000;

/**
 * Refreshes what no caller does in time: interrupted refreshes, while the provider may still accept the spent refresh token, and
 * refresh tokens that would end for lack of use. Credentials in use are refreshed by their callers. Tells tenants of grants that
 * end soon, whatever is done with them.
 */
export function refreshSweepJob({ db, clock, events, refresher, platformTenantId }: Dependencies): JobKind {
  const leases = leaseStore(db.sql);

  async function refreshAll(due: readonly DueConnection[], cause: RefreshCause, signal: AbortSignal): Promise<number> {
    const waiting = due.values();
    const worker = async () => {
      for (const { tenantId, id, credentialVersion } of waiting) {
        if (signal.aborted) return;
        const ref = { tenantId, id };
        const outcome = await refresher.refresh(ref, { spentVersion: credentialVersion, cause });
        if (outcome.kind !== "refreshed" && cause === "idle") {
          await leases.postponeIdle(ref, new Date(clock.now() + postponeMs));
        }
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return due.length;
  }

  /** Records one event for each grant that ends soon; returns their number. */
  async function noticeEnds(limit: number): Promise<number> {
    const nowMs = clock.now();
    return db.transaction(async (sql) => {
      const due = await connectionStore(sql).takeNotices(new Date(nowMs), limit);
      for (const connection of due) {
        const { tenantId, id, grantExpiresAt } = connection;
        const data = { ...eventData(connection), grant_expires_at: grantExpiresAt!.toISOString() };
        await events.record({ tenantId, sql, nowMs }, "connection.reauth_due", id, data);
      }
      return due.length;
    });
  }

  return {
    kind: "connector.refresh_sweep",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      // A failed attempt backs off, so that it is not found again.
      await refreshAll(await leases.findInterrupted(batchSize), "interrupted", signal);
      await runInBatches(signal, batchSize, async (limit) =>
        refreshAll(await leases.findIdle(new Date(clock.now()), limit), "idle", signal),
      );
      await runInBatches(signal, batchSize, noticeEnds);
      await runInBatches(signal, batchSize, (limit) => {
        const nowMs = clock.now();
        return connectionStore(db.sql).eraseAbandoned(new Date(nowMs - abandonMs), new Date(nowMs), limit);
      });
    },
  };
}
