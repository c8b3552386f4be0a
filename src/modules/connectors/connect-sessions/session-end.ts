import type { Database, Sql } from "../../../platform/db/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { ConnectionAttempt, Connections } from "../connections/index.ts";
import type { ConnectSession, OpenSession, SessionError } from "./domain/connect-session.ts";
import { nextStatus, type SessionVerb, statusAt } from "./domain/session-status.ts";
import type { SessionMetrics } from "./session-metrics.ts";
import { connectSessionStore, type SessionEnd } from "./store.ts";

const endVerbs = {
  completed: "complete",
  failed: "fail",
  expired: "expire",
  revoked: "revoke",
} as const satisfies Record<SessionEnd["status"], SessionVerb>;

/** Every other error is a refusal. */
const outcomes: { readonly [E in SessionError]?: ConnectionAttempt["outcome"] } = {
  provider_unavailable: "unavailable",
  provider_malformed: "malformed",
};

interface Dependencies {
  readonly db: Database;
  readonly connections: Pick<Connections, "recordAttempt">;
  readonly events: EventRecorder;
  readonly metrics: SessionMetrics;
}

export type SessionEnder = ReturnType<typeof createSessionEnder>;

/** Creates the part that ends sessions, with their events. */
export function createSessionEnder({ db, connections, events, metrics }: Dependencies) {
  /** Adds an attempt to the log of the connection of a session, if there is one. */
  async function logAttempt(
    sql: Sql,
    { tenantId, id: connectSessionId, connectionId }: ConnectSession,
    { resultConnectionId, errorCode, errorDetail }: Omit<SessionEnd, "status">,
    nowMs: number,
  ): Promise<void> {
    const id = resultConnectionId || connectionId;
    if (id === "") return;
    const outcome = errorCode === undefined ? "succeeded" : (outcomes[errorCode] ?? "refused");
    const attempt = { at: new Date(nowMs), kind: "connect", cause: "", connectSessionId, outcome } as const;
    await connections.recordAttempt(sql, { tenantId, id }, { ...attempt, code: errorDetail || errorCode || "" });
  }

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
    if (how.status === "completed" || how.status === "failed") await logAttempt(sql, session, how, nowMs);
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
    const { tenantId } = session;
    return db.transaction((sql) => work({ tenantId, sql, nowMs, afterCommit: sql.afterCommit }));
  }

  return {
    end,
    inTransaction,
    /** Logs an attempt that did not end its session. */
    logFailure: (session: ConnectSession, [errorCode, errorDetail]: readonly [SessionError, string], nowMs: number) =>
      logAttempt(db.sql, session, { errorCode, errorDetail }, nowMs),
    /** Ends a session in a transaction of its own. */
    endNow: (session: ConnectSession, how: SessionEnd, nowMs: number) =>
      inTransaction(session, nowMs, (context) => end(context, session, how)),
  };
}
