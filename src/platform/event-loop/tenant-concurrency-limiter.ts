/** Limits concurrent work per tenant: each name runs one task at a time, and a tenant runs at most `concurrency` tasks. */
export interface TenantConcurrencyLimiter {
  /** Runs work as soon as its name and a slot of its tenant are free. Names of one tenant are scheduled round-robin. */
  run<T>(tenantId: string, name: string, work: () => Promise<T>): Promise<T>;
}

interface TenantWork {
  readonly busy: Set<string>;
  readonly waiting: Map<string, (() => void)[]>;
}

/** Creates a concurrency limiter. Waiting work holds no resource except its place in the queue. */
export function createTenantConcurrencyLimiter(concurrency: number): TenantConcurrencyLimiter {
  const tenants = new Map<string, TenantWork>();

  function workOf(tenantId: string): TenantWork {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    const fresh: TenantWork = { busy: new Set(), waiting: new Map() };
    tenants.set(tenantId, fresh);
    return fresh;
  }

  function startWaiting(tenantId: string, { busy, waiting }: TenantWork): void {
    for (const [name, queue] of waiting) {
      if (busy.size >= concurrency) return;
      if (busy.has(name)) continue;
      const begin = queue.shift()!;
      // A map iterates in insertion order, so re-inserting the name moves it to the end of the round.
      waiting.delete(name);
      if (queue.length > 0) waiting.set(name, queue);
      busy.add(name);
      begin();
    }
    if (busy.size === 0) tenants.delete(tenantId);
  }

  return {
    async run(tenantId, name, work) {
      const own = workOf(tenantId);
      await new Promise<void>((resolve) => {
        const queue = own.waiting.get(name);
        if (queue === undefined) own.waiting.set(name, [resolve]);
        else queue.push(resolve);
        startWaiting(tenantId, own);
      });
      try {
        return await work();
      } finally {
        own.busy.delete(name);
        startWaiting(tenantId, own);
      }
    },
  };
}
