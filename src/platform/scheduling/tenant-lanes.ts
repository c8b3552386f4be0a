/** Limits how much named work of one tenant runs at once: each name runs one at a time, and a tenant at most `lanes`. */
export interface TenantLanes {
  /** Runs work when its name and a lane of its tenant are free. Names of one tenant take turns. */
  run<T>(tenantId: string, name: string, work: () => Promise<T>): Promise<T>;
}

interface Lanes {
  readonly busy: Set<string>;
  readonly waiting: Map<string, (() => void)[]>;
}

/** Creates lanes for every tenant. Waiting work holds nothing but its place in the queue. */
export function createTenantLanes(lanes: number): TenantLanes {
  const tenants = new Map<string, Lanes>();

  function lanesOf(tenantId: string): Lanes {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    const fresh: Lanes = { busy: new Set(), waiting: new Map() };
    tenants.set(tenantId, fresh);
    return fresh;
  }

  function pump(tenantId: string, { busy, waiting }: Lanes): void {
    for (const [name, queue] of waiting) {
      if (busy.size >= lanes) return;
      if (busy.has(name)) continue;
      const begin = queue.shift()!;
      // A map keeps insertion order, so a name that had its turn goes to the end.
      waiting.delete(name);
      if (queue.length > 0) waiting.set(name, queue);
      busy.add(name);
      begin();
    }
    if (busy.size === 0) tenants.delete(tenantId);
  }

  return {
    async run(tenantId, name, work) {
      const own = lanesOf(tenantId);
      await new Promise<void>((resolve) => {
        const queue = own.waiting.get(name);
        if (queue === undefined) own.waiting.set(name, [resolve]);
        else queue.push(resolve);
        pump(tenantId, own);
      });
      try {
        return await work();
      } finally {
        own.busy.delete(name);
        pump(tenantId, own);
      }
    },
  };
}
