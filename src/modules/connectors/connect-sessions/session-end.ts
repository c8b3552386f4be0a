import type { Database } from "../../../platform/db/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { ConnectSession, OpenSession } from "./domain/connect-session.ts";
import { nextStatus, type SessionVerb, statusAt } from "./domain/session-status.ts";
import type { SessionMetrics } from "./session-metrics.ts";
import { connectSessionStore, type SessionEnd } from "./store.ts";

const endVerbs = {
  completed: "complete",
  failed: "fail",
  expired: "expire",
  revoked: "revoke",
} as const satisfies Record<SessionEnd["status"], SessionVerb>;

interface Parts {
  readonly db: Database;
  readonly events: EventRecorder;
  readonly metrics: SessionMetrics;
}

/** Ends sessions. */
export type SessionEnder = ReturnType<typeof createSessionEnder>;

/** Creates the part that ends sessions, with their events. */
export function createSessionEnder({ db, events, metrics }: Parts) {
  /** Ends a session in the caller's transaction; undefined if it has changed since it was read, or has ended. */
  async function end(
    context: EventContext,
    session: ConnectSession,
    how: SessionEnd,
  ): Promise<OpenSession | undefined> {
    const { sql, nowMs, afterCommit } = context;
    // Expiry is what makes the status at this time differ from the stored one.
    const from = how.status === "expired" ? session.status : statusAt(session, nowMs);
    if (nextStatus(from, endVerbs[how.status]) === undefined) return undefined;
    const ended = await connectSessionStore(sql).end(session, how, new Date(nowMs));
    if (ended === undefined) return undefined;
    await events.record(context, `connect_session.${how.status}`, session.id, {
      end_user_id: session.endUser.id,
      provider_key: ended.providerKey,
      ...(how.status === "completed" && { connection_id: how.resultConnectionId }),
      ...(how.status === "failed" && { error_code: how.errorCode, error_detail: how.errorDetail ?? "" }),
    });
    afterCommit(() => metrics.ended(how.status, how.errorCode ?? ""));
    return ended;
  }

  /** Runs work in a transaction of its own, with the work that follows the commit. */
  async function inTransaction<T>(
    session: Pick<ConnectSession, "tenantId">,
    nowMs: number,
    work: (context: EventContext) => Promise<T>,
  ): Promise<T> {
    const actions: (() => unknown)[] = [];
    const afterCommit = (action: () => unknown) => void actions.push(action);
    const { tenantId } = session;
    const result = await db.transaction((tx) => work({ tenantId, sql: tx, nowMs, afterCommit }));
    for (const action of actions) await action();
    return result;
  }

  return {
    end,
    inTransaction,
    /** Ends a session in a transaction of its own. */
    endNow: (session: ConnectSession, how: SessionEnd, nowMs: number) =>
      inTransaction(session, nowMs, (context) => end(context, session, how)),
  };
}
