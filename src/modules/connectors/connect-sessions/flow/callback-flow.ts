import { tenantOfSecret } from "../../../../platform/crypto/index.ts";
import { storableText } from "../../../../platform/text/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { isProofFault } from "../../connections/index.ts";
import type { Catalogue } from "../../manifests/index.ts";
import { isExpectedIssuer, safeCode } from "../domain/callback-check.ts";
import { hashOf, matchesHash, type OpenSession, type SessionError } from "../domain/connect-session.ts";
import { hasEnded, statusAt } from "../domain/session-status.ts";
import type { SessionEnder } from "../session-end.ts";
import type { SessionMetrics } from "../session-metrics.ts";
import { connectSessionStore } from "../store.ts";
import { type Completion, errorOf } from "./completion.ts";
import type { PageView } from "./page-view.ts";
import { type AuthorizationValues, type HeldCallback, openValues } from "./sealed-values.ts";
import { noChoice, refused } from "./session-flow.ts";
import type { Resubmission, ViewBuilder } from "./view-builder.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "keyring"> {
  readonly catalogue: Pick<Catalogue, "providerByDigest">;
  readonly metrics: SessionMetrics;
  readonly views: ViewBuilder;
  readonly ender: SessionEnder;
  readonly completion: Completion;
}

export interface ProviderCallback {
  /** From the path. */
  readonly configId: string;
  readonly query: URLSearchParams;
  /** The cookie that the browser has for a session. */
  readonly cookieOf: (sessionId: string) => string | undefined;
}

/** The view after a callback, with the session that it belongs to. */
export interface CallbackResult {
  readonly view: PageView;
  /** Undefined if the callback belongs to no session of this browser. */
  readonly sessionId: string | undefined;
}

/** Creates the processing of callbacks. */
export function createCallbackFlow(dependencies: Dependencies) {
  const { db, clock, keyring, catalogue, metrics, views, ender, completion } = dependencies;
  const store = connectSessionStore(db.sql);

  /** Lets the end user start again, and says why. */
  async function startAgain(session: OpenSession, problem: string): Promise<PageView> {
    const nowMs = clock.now();
    const pending = (await store.retry(session, new Date(nowMs))) ?? session;
    const again: Resubmission = { values: new Map(), problems: new Map(), problem };
    const choice = { providerKey: session.providerKey, mode: session.authMode || undefined };
    return views.viewOf(pending, nowMs, choice, again);
  }

  async function failedView(session: OpenSession, code: SessionError, detail = ""): Promise<PageView> {
    return views.viewOf(await completion.failWith(session, code, detail), clock.now(), noChoice);
  }

  /** Compares a callback with the authorization, after its state was spent. */
  async function checked(
    session: OpenSession,
    { configId, query }: ProviderCallback,
    values: AuthorizationValues,
  ): Promise<HeldCallback | { readonly error: SessionError; readonly detail: string }> {
    // Every config has its own redirect URI: another path means that another app or provider sent the end user.
    if (configId !== session.usedConfigId) {
      metrics.refused("redirect");
      return { error: "redirect_mismatch", detail: "" };
    }
    if (!isExpectedIssuer(query.getAll("iss"), values)) {
      metrics.refused("issuer");
      return { error: "issuer_mismatch", detail: "" };
    }
    const error = query.get("error");
    if (error !== null) {
      const detail = safeCode(error);
      return { error: detail === "access_denied" ? "access_denied" : "provider_refused", detail };
    }
    const [code, ...more] = query.getAll("code");
    if (code === undefined || code === "" || more.length > 0) {
      return { error: "provider_refused", detail: "code_missing" };
    }
    const provider = await catalogue.providerByDigest(session.tenantId, session.providerKey, session.manifestDigest);
    const auth = provider?.auth("oauth2");
    if (auth?.mode !== "oauth2") return { error: "provider_changed", detail: "" };
    const captured: Record<string, string> = {};
    for (const [name, parameter] of auth.capturedQuery) {
      const value = query.get(parameter);
      if (value !== null) captured[name] = storableText(value.slice(0, 256));
    }
    return { ...values, kind: "callback", code, captured };
  }

  async function proceed(session: OpenSession, callback: ProviderCallback): Promise<PageView> {
    const values = openValues(keyring, session);
    if (values?.kind !== "authorization") return failedView(session, "provider_changed");
    const held = await checked(session, callback, values);
    if ("error" in held) return failedView(session, held.error, held.detail);
    if (session.requireCompletion) {
      const url = await completion.hold(session, held);
      return url === undefined ? refused("invalid_state") : { kind: "redirect", url };
    }
    const exchanged = await completion.exchange(session, held);
    if (exchanged === undefined) return failedView(session, "provider_changed");
    const { provider, proven } = exchanged;
    if (!isProofFault(proven)) {
      return views.viewOf(await completion.finish(session, proven, provider.name), clock.now(), noChoice);
    }
    if (proven.fault !== "unavailable") return failedView(session, ...errorOf(proven));
    await ender.logFailure(session, errorOf(proven), clock.now());
    const problem = `${provider.name} could not be reached (${safeCode(proven.code)}). Try again in a moment.`;
    return startAgain(session, problem);
  }

  return async function receive(callback: ProviderCallback): Promise<CallbackResult> {
    const [state, ...more] = callback.query.getAll("state");
    const session =
      state === undefined || more.length > 0
        ? undefined
        : await store.findByState(tenantOfSecret(state), hashOf(state));
    if (session === undefined) {
      metrics.refused("state");
      return { view: refused("invalid_state"), sessionId: undefined };
    }
    const cookie = callback.cookieOf(session.id);
    if (cookie === undefined || !matchesHash(cookie, session.cookieHash)) {
      // The state stays valid for its own browser, so that a stranger cannot end the session.
      metrics.refused("cookie");
      return { view: refused("other_browser"), sessionId: undefined };
    }
    const nowMs = clock.now();
    const result = (view: PageView): CallbackResult => ({ view, sessionId: session.id });
    if (hasEnded(statusAt(session, nowMs))) {
      metrics.refused("ended");
      return result(await views.viewOf(session, nowMs, noChoice));
    }
    if (session.stateExpiresAt!.getTime() <= nowMs) {
      metrics.refused("state_expired");
      return result(await startAgain(session, "That took too long. Start again."));
    }
    const spent = await store.spendState(session, new Date(nowMs));
    if (spent === undefined) {
      metrics.refused("state");
      return result(refused("invalid_state"));
    }
    return result(await proceed(spent, callback));
  };
}
