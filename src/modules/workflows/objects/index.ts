/**
 * Objects: payloads of data streams that are too large for a record.
 *
 * intent: the delivery of one object, announced with its size and digest. prepare: announces it. upload: stores its bytes.
 * commit: appends a record that refers to it, which makes it visible. abort: gives it up. expiry: an intent that is not
 * committed in time ends. evidence: what the store says about the bytes, checked before the commit. removal: bytes without a
 * record are removed, unless their stream is held.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { ObjectStore } from "../../../platform/objects/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Streams } from "../streams/index.ts";
import { intentIdOf } from "./domain/intent.ts";
import { intentStore } from "./intent-store.ts";
import { objectHandlers } from "./object-handler.ts";
import { createObjectMetrics } from "./object-metrics.ts";
import { removeObjectsJob } from "./object-removal.ts";
import { createObjectService } from "./object-service.ts";
import { removalStore } from "./removal-store.ts";
import { transferStore } from "./transfer-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly metrics: Pick<Metrics, "counter">;
  readonly streams: Pick<Streams, "lookup" | "requireAppendable" | "appendInTransaction">;
  readonly store: ObjectStore;
  readonly region: string;
  readonly platformTenantId: () => string;
}

export { findStoredObjectKeys } from "./removal-store.ts";

export function createObjects(dependencies: Dependencies) {
  const { db, clock } = dependencies;
  const metrics = createObjectMetrics(dependencies.metrics);
  return {
    handlers: objectHandlers(createObjectService({ ...dependencies, metrics }), metrics),
    jobs: [removeObjectsJob({ ...dependencies, metrics })],
    /** Schedules the removal of the bytes of objects whose records are removed in the same transaction. */
    release: (tx: Sql, tenantId: TenantId, objectKeys: readonly string[]) =>
      intentStore(tx).release(tenantId, objectKeys.map(intentIdOf), new Date(clock.now())),
    /** Schedules the removal of a tenant's objects; returns whether any still has bytes. */
    releaseTenant: (tenantId: TenantId) => removalStore(db.sql).releaseTenant(tenantId, new Date(clock.now())),
    /** Exports and imports the objects of a tenant. */
    transfer: { objects: dependencies.store, ...transferStore(dependencies.region) },
  };
}
