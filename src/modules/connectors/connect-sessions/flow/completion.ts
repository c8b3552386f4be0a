import { randomBytes } from "node:crypto";
import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { writePersistently } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventContext } from "../../../operations/index.ts";
import type { Connections, GrantProver, GrantRefusal, ProofFailure, ProvenGrant } from "../../connections/index.ts";
import { isProofFault } from "../../connections/index.ts";
import type { Catalogue } from "../../manifests/index.ts";
import { safeCode } from "../domain/callback-check.ts";
import { hashOf, matchesHash, type OpenSession, type SessionError } from "../domain/connect-session.ts";
import { hasEnded, statusAt } from "../domain/session-status.ts";
import { withQuery } from "../domain/web-address.ts";
import { requireAccess } from "../service.ts";
import type { SessionEnder } from "../session-end.ts";
import { connectSessionStore } from "../store.ts";
import { type HeldCallback, openValues, type SealedValues, sealValues } from "./sealed-values.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "keyring"> {
  readonly catalogue: Pick<Catalogue, "providerByDigest">;
  readonly connections: Pick<Connections, "storeGrant">;
  readonly ender: SessionEnder;
  readonly prover: GrantProver;
}

const grantErrors: Readonly<Record<GrantRefusal, SessionError>> = {
  connection_missing: "connection_unusable",
  connection_revoked: "connection_unusable",
  provider_mismatch: "connection_unusable",
  account_mismatch: "account_mismatch",
  too_many_connections: "too_many_connections",
};

/** Longer than a completion takes. One that has not ended by then was cut off with its node, and is repeated. */
const completionMs = 60_000;

/** Completes sessions: at once, or after a backend has confirmed the end user. */
export type Completion = ReturnType<typeof createCompletion>;

/** Creates the part that completes sessions. */
export function createCompletion({ db, clock, log, keyring, catalogue, connections, ender, prover }: Dependencies) {
  /** Completions that are running on this node. Repeated calls wait for the first one. */
  const completing = new Map<string, Promise<void>>();
  const read = async (session: OpenSession): Promise<OpenSession> =>
    (await connectSessionStore(db.sql).findOpen(session.id)) ?? session;

  /**
   * Stores a proven grant and ends the session in one transaction. A session that was revoked, has expired or was started again
   * meanwhile gets no connection. Returns the session as it is afterwards.
   */
  async function finish(session: OpenSession, grant: ProvenGrant, providerName: string): Promise<OpenSession> {
    const nowMs = clock.now();
    const store = async (context: EventContext) => {
      const current = await connectSessionStore(context.sql).lock(session.tenantId, session.id);
      if (current === undefined || current.recordVersion !== session.recordVersion) return undefined;
      if (hasEnded(statusAt(current, nowMs))) return undefined;
      const { endUser, connectionId, connectionName, environmentId, environmentKey } = session;
      const name = connectionName || `${providerName} (${endUser.displayName || endUser.email || endUser.id})`;
      const stored = await connections.storeGrant(context, {
        ...{ ...grant, environmentId, environmentKey },
        connectionId: connectionId || undefined,
        name: name.slice(0, 128),
        endUser,
      });
      return typeof stored === "string"
        ? ender.end(context, current, { status: "failed", errorCode: grantErrors[stored] })
        : ender.end(context, current, { status: "completed", resultConnectionId: stored.id });
    };
    // The provider accepts a code once: a grant that is not stored is lost.
    const finished = await writePersistently(
      () => ender.inTransaction(session, nowMs, store),
      (error) => log.warn({ err: error, connect_session: session.id }, "storing a grant failed"),
    );
    return finished ?? read(session);
  }

  /** Exchanges a callback's code for tokens, with the manifest that the session pinned. */
  async function exchange(session: OpenSession, held: HeldCallback) {
    const { tenantId, providerKey, manifestDigest, usedConfigId } = session;
    const provider = await catalogue.providerByDigest(tenantId, providerKey, manifestDigest);
    const auth = provider?.auth("oauth2");
    if (provider === undefined || auth?.mode !== "oauth2") return undefined;
    const target = { tenantId, provider, mode: "oauth2", configId: usedConfigId } as const;
    return { provider, proven: await prover.proveCallback(target, auth, held, clock.now()) };
  }

  /** Ends a session whose access was not proven. */
  async function failWith(session: OpenSession, errorCode: SessionError, errorDetail = ""): Promise<OpenSession> {
    const ended = await ender.endNow(session, { status: "failed", errorCode, errorDetail }, clock.now());
    return ended ?? read(session);
  }

  async function hold(session: OpenSession, values: SealedValues): Promise<string | undefined> {
    const completionCode = randomBytes(32).toString("base64url");
    const held = { completionHash: hashOf(completionCode), ciphertext: sealValues(keyring, session, values) };
    const waiting = await connectSessionStore(db.sql).hold(session, held, new Date(clock.now()));
    if (waiting === undefined) return undefined;
    const parameters = { session_id: session.id, status: "authorizing", completion_code: completionCode };
    return withQuery(session.successRedirectUri, parameters);
  }

  async function completeHeld(session: OpenSession): Promise<void> {
    const values = openValues(keyring, session);
    if (values?.kind === "grant") {
      const { tenantId, providerKey, manifestDigest } = session;
      const provider = await catalogue.providerByDigest(tenantId, providerKey, manifestDigest);
      await finish(session, values.grant, provider?.name ?? providerKey);
      return;
    }
    // Taken before it is used, so that two callers cannot send a code twice.
    const taken = await connectSessionStore(db.sql).takeHeld(session, new Date(clock.now()));
    if (taken === undefined) throw beingCompleted();
    const exchanged = values?.kind === "callback" ? await exchange(taken, values) : undefined;
    if (exchanged === undefined) await failWith(taken, "provider_changed");
    else if (isProofFault(exchanged.proven)) await failWith(taken, ...errorOf(exchanged.proven));
    else await finish(taken, exchanged.proven, exchanged.provider.name);
  }

  return {
    finish,
    failWith,
    exchange,
    /** Makes a session wait for its backend; returns where the end user goes, or undefined if the session has changed. */
    hold,

    /**
     * Completes a session for a backend that has confirmed the end user. It runs outside of the call's transaction, because no
     * transaction may be open during requests to the provider.
     */
    async complete(context: Context, id: string, completionCode: string, endUserId: string): Promise<void> {
      const store = connectSessionStore(db.sql);
      const session = requireAccess(context, await store.findOpen(id).then(ownedBy(context)));
      const nowMs = clock.now();
      if (!matchesHash(completionCode, session.completionHash)) {
        throw invalidSession("The completion_code is not the one of this connect session.");
      }
      const status = statusAt(session, nowMs);
      if (session.endUser.id !== endUserId) {
        // Whoever returned is not the end user: the account must not become theirs.
        if (!hasEnded(status)) await failWith(session, "end_user_mismatch");
        throw invalidSession("The person who connected the account is not the end user of the connect session.");
      }
      if (status === "completed") return;
      if (hasEnded(status)) throw invalidSession(`The connect session is ${status}. Create another one.`);
      const running = completing.get(id);
      if (running !== undefined) return running;
      const isAbandoned = session.updatedAt.getTime() + completionMs <= nowMs;
      if (!session.awaitingCompletion && !isAbandoned) throw beingCompleted();
      const flight = completeHeld(session).finally(() => completing.delete(id));
      completing.set(id, flight);
      await flight;
    },
  };
}

const proofErrors: Readonly<Record<ProofFailure["fault"], SessionError>> = {
  rejected: "provider_refused",
  unavailable: "provider_unavailable",
  malformed: "provider_malformed",
};

/** The error of a session whose access was not proven. */
export function errorOf({ fault, code }: ProofFailure): [SessionError, string] {
  return [proofErrors[fault], safeCode(code)];
}

function ownedBy({ tenantId }: Context) {
  return (session: OpenSession | undefined) => (session?.tenantId === tenantId ? session : undefined);
}

function beingCompleted() {
  return fail("UNAVAILABLE", {
    public: "Another request is completing the connect session. Try again to see its result.",
    headers: { "retry-after": "1" },
  });
}

function invalidSession(text: string) {
  return fail("CONNECT_SESSION_INVALID", { public: text });
}
