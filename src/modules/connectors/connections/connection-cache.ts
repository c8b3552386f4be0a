import { createSignalCache, type SignalCache } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { SealedConnection } from "./domain/connection.ts";
import { type ConnectionRef, connectionStore } from "./store.ts";

/** Caches sealed connections on this node. A change of one connection invalidates only that one, on every node. */
export type ConnectionCache = SignalCache<ConnectionRef, SealedConnection>;

interface Dependencies extends Pick<PlatformServices, "db" | "signals"> {
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

const prefix = "connection:";

/** The signal topic of changes of a connection. */
export function topicOf(ref: ConnectionRef): string {
  return prefix + keyOf(ref);
}

/** Creates the cache of this node. */
export function createConnectionCache({ db, signals, nowMs }: Dependencies): ConnectionCache {
  return createSignalCache({
    signals,
    prefix,
    keyOf,
    async readMany(refs) {
      const found = await connectionStore(db.sql).findManySealed(refs);
      const byKey = new Map(found.map((each) => [keyOf(each), each]));
      return refs.map((ref) => byKey.get(keyOf(ref)));
    },
    nowMs,
  });
}

function keyOf({ tenantId, id }: ConnectionRef): string {
  return `${tenantId}:${id}`;
}
