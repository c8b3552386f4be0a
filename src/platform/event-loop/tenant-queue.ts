/** A queue of named work: each tenant runs one entry at a time, and a name is queued at most once per tenant. */
export interface TenantQueue<T> {
  /** Queues work for a name. Entries added while the name is queued, or while it runs, are merged into one following run. */
  add(tenantId: string, name: string, payload: T): void;
  /** Drops queued entries and entries added meanwhile, and resolves when the running work is done. */
  stop(): Promise<void>;
}

interface Settings<T> {
  /** How many tenants run concurrently. */
  readonly concurrency: number;
  /** Combines the payloads of two entries of the same name. */
  readonly merge: (one: T, other: T) => T;
  readonly work: (tenantId: string, name: string, payload: T) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Creates a queue that serves tenants round-robin, one entry at a time. */
export function createTenantQueue<T>({ concurrency, merge, work, onError }: Settings<T>): TenantQueue<T> {
  const waiting = new Map<string, Map<string, T>>();
  const running = new Map<string, Promise<void>>();
  let isStopping = false;

  function startWaiting(): void {
    for (const [tenantId, entries] of waiting) {
      if (running.size >= concurrency) return;
      if (running.has(tenantId)) continue;
      const [name, payload] = entries.entries().next().value!;
      entries.delete(name);
      // A map iterates in insertion order, so re-inserting the tenant moves it to the end of the round.
      waiting.delete(tenantId);
      if (entries.size > 0) waiting.set(tenantId, entries);
      running.set(tenantId, run(tenantId, name, payload));
    }
  }

  async function run(tenantId: string, name: string, payload: T): Promise<void> {
    await work(tenantId, name, payload).catch(onError);
    running.delete(tenantId);
    startWaiting();
  }

  return {
    add(tenantId, name, payload) {
      if (isStopping) return;
      const entries = waiting.get(tenantId) ?? new Map<string, T>();
      const known = entries.get(name);
      entries.set(name, known === undefined ? payload : merge(known, payload));
      waiting.set(tenantId, entries);
      startWaiting();
    },
    async stop() {
      isStopping = true;
      waiting.clear();
      await Promise.all(running.values());
      isStopping = false;
    },
  };
}
