import type { SmtpSession } from "./smtp-session.ts";

/** A pool of reusable sessions with mail servers. */
export type SmtpPool = ReturnType<typeof createSmtpPool>;

interface ServerQueue {
  busy: number;
  readonly idle: SmtpSession[];
  readonly waiting: (() => void)[];
}

interface Limits {
  /** The maximum number of concurrent sessions per server. */
  readonly sessionsMax?: number;
  readonly idleMs?: number;
  /** The maximum number of idle sessions in total. */
  readonly idleMax?: number;
}

/** Creates a pool that limits concurrent sessions per server and closes idle ones. */
export function createSmtpPool({ sessionsMax = 5, idleMs = 10_000, idleMax = 200 }: Limits = {}) {
  const queues = new Map<string, ServerQueue>();
  const timers = new Map<SmtpSession, NodeJS.Timeout>();
  let closed = false;

  function queueOf(key: string): ServerQueue {
    let queue = queues.get(key);
    if (queue === undefined) {
      queue = { busy: 0, idle: [], waiting: [] };
      queues.set(key, queue);
    }
    return queue;
  }

  async function acquireSlot(queue: ServerQueue, signal: AbortSignal): Promise<void> {
    if (queue.busy < sessionsMax) {
      queue.busy++;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = () => {
      const place = queue.waiting.indexOf(resolve);
      // Already removed: the slot was assigned and is released as usual.
      if (place === -1) return;
      queue.waiting.splice(place, 1);
      reject(signal.reason);
    };
    // The next released slot goes to the first waiter.
    queue.waiting.push(resolve);
    signal.addEventListener("abort", cancel, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", cancel));
  }

  function releaseSlot(key: string, queue: ServerQueue): void {
    const next = queue.waiting.shift();
    if (next === undefined) {
      queue.busy--;
      deleteIfEmpty(key, queue);
    } else next();
  }

  function deleteIfEmpty(key: string, queue: ServerQueue): void {
    if (queue.busy === 0 && queue.idle.length === 0) queues.delete(key);
  }

  function takeIdle(queue: ServerQueue): SmtpSession | undefined {
    for (let session = queue.idle.pop(); session !== undefined; session = queue.idle.pop()) {
      clearTimeout(timers.get(session));
      timers.delete(session);
      if (session.usable) return session;
      session.close();
    }
    return undefined;
  }

  function returnToPool(key: string, queue: ServerQueue, session: SmtpSession): void {
    if (closed || timers.size >= idleMax || !session.usable) {
      session.close();
      return;
    }
    queue.idle.push(session);
    const drop = () => {
      timers.delete(session);
      queue.idle.splice(queue.idle.indexOf(session), 1);
      session.close();
      deleteIfEmpty(key, queue);
    };
    timers.set(session, setTimeout(drop, idleMs).unref());
  }

  return {
    /** Runs work with an idle session of a server, if there is one. `release` returns a healthy session to the pool. */
    async withSession<T>(
      key: string,
      signal: AbortSignal,
      work: (session: SmtpSession | undefined, release: (session: SmtpSession) => void) => Promise<T>,
    ): Promise<T> {
      signal.throwIfAborted();
      const queue = queueOf(key);
      await acquireSlot(queue, signal);
      try {
        return await work(takeIdle(queue), (session) => returnToPool(key, queue, session));
      } finally {
        releaseSlot(key, queue);
      }
    },

    close() {
      closed = true;
      for (const [session, timer] of timers) {
        clearTimeout(timer);
        session.close();
      }
      timers.clear();
      queues.clear();
    },
  };
}
