import type { TenantChanges } from "./tenant-changes.ts";

/** Caches a tenant's records until the tenant changes. */
export interface TenantCache<K, V> {
  /** The value, or a promise when it must be loaded first. */
  get(key: K): V | Promise<V>;
}

interface Options<K, V> {
  readonly changes: TenantChanges;
  readonly load: (key: K) => Promise<V>;
  /** The tenant a value belongs to; undefined for a value that must not be cached. */
  readonly tenantOf: (key: K, value: V) => string | undefined;
  readonly entriesMax?: number;
}

/**
 * Creates a bounded cache for one kind of record. Concurrent reads of a value are one read. A value that was read before a change
 * and arrives after it is not cached, and not returned to callers that came after the change.
 */
export function createTenantCache<K, V>({
  changes,
  load,
  tenantOf,
  entriesMax = 10_000,
}: Options<K, V>): TenantCache<K, V> {
  const entries = new Map<K, V>();
  const keysByTenant = new Map<string, Set<K>>();
  const reading = new Map<K, Promise<V>>();
  let generation = 0;

  changes.onChange((tenantId) => {
    generation++;
    reading.clear();
    if (tenantId === undefined) return clear();
    for (const key of keysByTenant.get(tenantId) ?? []) entries.delete(key);
    keysByTenant.delete(tenantId);
  });

  function clear(): void {
    entries.clear();
    keysByTenant.clear();
  }

  function store(key: K, value: V, tenantId: string): void {
    if (entries.size >= entriesMax) clear();
    entries.set(key, value);
    const keys = keysByTenant.get(tenantId);
    if (keys === undefined) keysByTenant.set(tenantId, new Set([key]));
    else keys.add(key);
  }

  async function read(key: K): Promise<V> {
    const startedIn = generation;
    const value = await load(key);
    const tenantId = tenantOf(key, value);
    if (tenantId !== undefined && generation === startedIn && changes.fresh()) store(key, value, tenantId);
    return value;
  }

  function share(key: K): Promise<V> {
    const current = reading.get(key);
    if (current !== undefined) return current;
    const started = read(key).finally(() => {
      if (reading.get(key) === started) reading.delete(key);
    });
    reading.set(key, started);
    return started;
  }

  return {
    get(key) {
      // While changes of other nodes are not known, only a read that starts now can be trusted.
      return changes.fresh() ? (entries.get(key) ?? share(key)) : read(key);
    },
  };
}
