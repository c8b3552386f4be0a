import type { SmtpSession } from "./smtp-session.ts";

/** Sessions with mail servers that are kept for the next mail. */
export interface SmtpPool {
  /** Does something with a session of a server, in turn; `keep` says of a session that it is good for another mail. */
  withSession<T>(
    key: string,
    signal: AbortSignal,
    work: (session: SmtpSession | undefined, keep: (session: SmtpSession) => void) => Promise<T>,
  ): Promise<T>;
  close(): void;
}

interface Lane {
  busy: number;
  readonly idle: SmtpSession[];
  readonly waiting: (() => void)[];
}

interface Limits {
  /** How many sessions with one server there are at once. */
  readonly sessionsMax?: number;
  readonly idleMs?: number;
  /** How many sessions are kept in all. */
  readonly idleMax?: number;
}

/** Makes a pool. A server sees few sessions at once, and none that does nothing for long. */
export function createSmtpPool({ sessionsMax = 5, idleMs = 10_000, idleMax = 200 }: Limits = {}): SmtpPool {
  const lanes = new Map<string, Lane>();
  const timers = new Map<SmtpSession, NodeJS.Timeout>();
  let closed = false;

  function laneOf(key: string): Lane {
    let lane = lanes.get(key);
    if (lane === undefined) {
      lane = { busy: 0, idle: [], waiting: [] };
      lanes.set(key, lane);
    }
    return lane;
  }

  async function takeTurn(lane: Lane, signal: AbortSignal): Promise<void> {
    if (lane.busy < sessionsMax) {
      lane.busy++;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      const place = lane.waiting.indexOf(resolve);
      // Not there any more: its turn has come, and it ends as every turn does.
      if (place === -1) return;
      lane.waiting.splice(place, 1);
      reject(signal.reason);
    };
    // Whoever ends hands its turn on.
    lane.waiting.push(resolve);
    signal.addEventListener("abort", leave, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", leave));
  }

  function endTurn(key: string, lane: Lane): void {
    const next = lane.waiting.shift();
    if (next === undefined) {
      lane.busy--;
      forgetEmpty(key, lane);
    } else next();
  }

  function forgetEmpty(key: string, lane: Lane): void {
    if (lane.busy === 0 && lane.idle.length === 0) lanes.delete(key);
  }

  function takeIdle(lane: Lane): SmtpSession | undefined {
    for (let session = lane.idle.pop(); session !== undefined; session = lane.idle.pop()) {
      clearTimeout(timers.get(session));
      timers.delete(session);
      if (session.usable) return session;
      session.close();
    }
    return undefined;
  }

  function keepIdle(key: string, lane: Lane, session: SmtpSession): void {
    if (closed || timers.size >= idleMax || !session.usable) {
      session.close();
      return;
    }
    lane.idle.push(session);
    const drop = () => {
      timers.delete(session);
      lane.idle.splice(lane.idle.indexOf(session), 1);
      session.close();
      forgetEmpty(key, lane);
    };
    timers.set(session, setTimeout(drop, idleMs).unref());
  }

  return {
    async withSession(key, signal, work) {
      signal.throwIfAborted();
      const lane = laneOf(key);
      await takeTurn(lane, signal);
      try {
        return await work(takeIdle(lane), (session) => keepIdle(key, lane, session));
      } finally {
        endTurn(key, lane);
      }
    },

    close() {
      closed = true;
      for (const [session, timer] of timers) {
        clearTimeout(timer);
        session.close();
      }
      timers.clear();
      lanes.clear();
    },
  };
}
