/** Work on named things of tenants: one at a time for each tenant, and no thing twice in the queue. */
export interface TenantQueue<T> {
  /** Has a thing worked on. What is added while it waits, or while it is worked on, is worked on together after that. */
  add(tenantId: string, name: string, note: T): void;
  /** Resolves when what is being worked on is done; whatever waits is dropped, and whatever is added meanwhile. */
  stop(): Promise<void>;
}

interface Settings<T> {
  /** How many tenants are served at once. */
  readonly lanes: number;
  /** Notes of one thing as one. */
  readonly merge: (one: T, other: T) => T;
  readonly work: (tenantId: string, name: string, note: T) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Creates a queue in which tenants take turns, one thing each. */
export function createTenantQueue<T>({ lanes, merge, work, onError }: Settings<T>): TenantQueue<T> {
  const waiting = new Map<string, Map<string, T>>();
  const served = new Map<string, Promise<void>>();
  let isStopping = false;

  function pump(): void {
    for (const [tenantId, things] of waiting) {
      if (served.size >= lanes) return;
      if (served.has(tenantId)) continue;
      const [name, note] = things.entries().next().value!;
      things.delete(name);
      // A map keeps the order of insertion: whoever had a turn goes to the end.
      waiting.delete(tenantId);
      if (things.size > 0) waiting.set(tenantId, things);
      served.set(tenantId, serve(tenantId, name, note));
    }
  }

  async function serve(tenantId: string, name: string, note: T): Promise<void> {
    await work(tenantId, name, note).catch(onError);
    served.delete(tenantId);
    pump();
  }

  return {
    add(tenantId, name, note) {
      if (isStopping) return;
      const things = waiting.get(tenantId) ?? new Map<string, T>();
      const known = things.get(name);
      things.set(name, known === undefined ? note : merge(known, note));
      waiting.set(tenantId, things);
      pump();
    },
    async stop() {
      isStopping = true;
      waiting.clear();
      await Promise.all(served.values());
      isStopping = false;
    },
  };
}
