import { randomBytes } from "node:crypto";
import { newTenantSecret } from "../../../../platform/crypto/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { type GrantProver, isProofFault, type ProofFailure } from "../../connections/index.ts";
import type { AccountValues, AuthMode, AuthSpec, OAuth2Auth } from "../../manifests/index.ts";
import type { ProviderConfigs } from "../../provider-configs/index.ts";
import { safeCode } from "../domain/callback-check.ts";
import { attemptsMax, hashOf, matchesHash, type OpenSession, stateLifetimeMs } from "../domain/connect-session.ts";
import { hasEnded, statusAt } from "../domain/session-status.ts";
import type { ProviderOffer } from "../provider-offers.ts";
import type { SessionEnder } from "../session-end.ts";
import type { SessionMetrics } from "../session-metrics.ts";
import { connectSessionStore } from "../store.ts";
import { authorizationUrl, declaredIssuer, requestedScopes } from "./authorization-request.ts";
import { type Completion, errorOf } from "./completion.ts";
import { type FormValues, readFormValues } from "./form-values.ts";
import type { PageView, RefusalReason } from "./page-view.ts";
import { type AuthorizationValues, sealValues } from "./sealed-values.ts";
import type { Choice, ViewBuilder } from "./view-builder.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "keyring"> {
  readonly configs: Pick<ProviderConfigs, "redirectUriOf">;
  readonly metrics: SessionMetrics;
  readonly views: ViewBuilder;
  readonly prover: GrantProver;
  readonly ender: SessionEnder;
  readonly completion: Completion;
}

type ChosenOffer = ProviderOffer & { readonly mode: AuthMode; readonly auth: AuthSpec };

/** The end user's actions on the hosted page. */
export type SessionFlow = ReturnType<typeof createSessionFlow>;

/** Creates the flow of the hosted page. Every step but the first needs the cookie of the browser that opened the session. */
export function createSessionFlow(dependencies: Dependencies) {
  const { db, clock, keyring, configs, metrics, views, prover, ender, completion } = dependencies;
  const store = connectSessionStore(db.sql);

  /** Finds a session that the browser with this cookie has opened, or says what to show instead. */
  async function openedBy(sessionId: string, cookie: string | undefined): Promise<OpenSession | PageView> {
    const session = await store.findOpen(sessionId);
    if (session === undefined) return refused("unknown_session");
    if (cookie !== undefined && matchesHash(cookie, session.cookieHash)) return session;
    if (cookie !== undefined) metrics.refused("cookie");
    if (session.cookieHash !== null) return refused("opened_elsewhere");
    return { kind: "locked", sessionId, allowedOrigins: session.allowedOrigins };
  }

  /** Starts the authorization at the provider: state, verifier and everything that the callback is compared with. */
  async function depart(
    session: OpenSession,
    offer: ChosenOffer,
    auth: OAuth2Auth,
    { settings, credentials }: FormValues,
  ): Promise<PageView> {
    const { provider, config } = offer;
    const nowMs = clock.now();
    const target = { tenantId: session.tenantId, provider, mode: "oauth2", configId: config!.id } as const;
    const configValues = await prover.configValues(target);
    const again = (problem: string) =>
      showAgain(session, offer, { settings, credentials, problems: new Map() }, problem);
    if (isProofFault(configValues)) return again(configValues.message);
    const account: AccountValues = {
      ...{ mode: "oauth2", settings, captured: {}, account: { id: "", label: "" }, credentials },
      config: configValues,
    };
    const state = newTenantSecret(session.tenantId);
    const codeVerifier = auth.pkce.mode === "none" ? undefined : randomBytes(32).toString("base64url");
    const redirectUri = configs.redirectUriOf(config!.id);
    const scopes = requestedScopes(auth, session.scopes, config!.scopes);
    const url = authorizationUrl(provider, auth, { account, redirectUri, state, codeVerifier, scopes }, nowMs);
    if (url === undefined) return again("The address of the provider cannot be formed with these values.");
    const values: AuthorizationValues = {
      kind: "authorization",
      ...{ codeVerifier, redirectUri, settings, credentials, scopes },
      declared: declaredIssuer(auth, account, nowMs),
      authorizeUrl: url.slice(0, url.indexOf("?")),
    };
    const authorization = {
      ...{ providerKey: provider.key, usedConfigId: config!.id, manifestDigest: provider.digest },
      ...{ authMode: "oauth2" as const, stateHash: hashOf(state), ciphertext: sealValues(keyring, session, values) },
      stateExpiresAt: new Date(Math.min(nowMs + stateLifetimeMs, session.expiresAt.getTime())),
    };
    const started = await store.authorize(session, authorization, new Date(nowMs));
    if (started === undefined) return show(session.id);
    return { kind: "departure", frame: await views.frameOf(session), providerName: provider.name, url };
  }

  /** Proves entered credentials at the provider, and stores them or lets them await completion. */
  async function connect(session: OpenSession, offer: ChosenOffer, values: FormValues): Promise<PageView> {
    const { provider, config, mode } = offer;
    const configId = config?.id ?? "";
    const authorization = {
      ...{ providerKey: provider.key, authMode: mode, usedConfigId: configId, manifestDigest: provider.digest },
      ...{ stateHash: null, stateExpiresAt: null, ciphertext: "" },
    };
    const started = await store.authorize(session, authorization, new Date(clock.now()));
    if (started === undefined) return show(session.id);
    const target = { tenantId: session.tenantId, provider, mode, configId };
    const proven = await prover.proveFields(target, values.settings, values.credentials, session.scopes, clock.now());
    if (isProofFault(proven)) {
      await ender.logFailure(session, errorOf(proven), clock.now());
      const pending = await store.retry(started, new Date(clock.now()));
      return pending === undefined
        ? show(session.id)
        : showAgain(pending, offer, values, problemOf(proven, provider.name));
    }
    if (session.requireCompletion) {
      const url = await completion.hold(started, { kind: "grant", grant: proven });
      return url === undefined ? show(session.id) : { kind: "redirect", url };
    }
    const finished = await completion.finish(started, proven, provider.name);
    return views.viewOf(finished, clock.now(), noChoice);
  }

  function showAgain(session: OpenSession, offer: ChosenOffer, values: FormValues, problem: string): Promise<PageView> {
    const { provider, mode } = offer;
    const shown = new Map<string, string>();
    for (const [name, value] of Object.entries(values.settings)) shown.set(`settings.${name}`, value);
    for (const [name, value] of Object.entries(values.credentials)) shown.set(`credentials.${name}`, value);
    const again = { values: shown, problems: values.problems, problem };
    return views.viewOf(session, clock.now(), { providerKey: provider.key, mode }, again);
  }

  /** Shows a session as it is now, after another request has changed it. */
  async function show(sessionId: string): Promise<PageView> {
    const session = await store.findOpen(sessionId);
    return session === undefined ? refused("unknown_session") : views.viewOf(session, clock.now(), noChoice);
  }

  return {
    /** Swaps the token of a session for the cookie of one browser. It works once. */
    async open(sessionId: string, token: string): Promise<{ readonly cookie: string } | PageView> {
      const nowMs = clock.now();
      const session = await store.findOpen(sessionId);
      if (session === undefined || !matchesHash(token, session.tokenHash)) {
        metrics.refused("token");
        return refused("invalid_token");
      }
      if (hasEnded(statusAt(session, nowMs))) {
        metrics.refused("ended");
        return refused("too_late");
      }
      const cookie = randomBytes(32).toString("base64url");
      if (await store.open(session, hashOf(cookie), new Date(nowMs))) return { cookie };
      metrics.refused("token");
      return refused("opened_elsewhere");
    },

    /** Shows a session. */
    async view(sessionId: string, cookie: string | undefined, choice: Choice): Promise<PageView> {
      const session = await openedBy(sessionId, cookie);
      return "kind" in session ? session : views.viewOf(session, clock.now(), choice);
    },

    /** Connects with the submitted form, or continues at the provider. */
    async submit(sessionId: string, cookie: string | undefined, form: URLSearchParams): Promise<PageView> {
      const found = await openedBy(sessionId, cookie);
      if ("kind" in found) return found;
      const nowMs = clock.now();
      if (hasEnded(statusAt(found, nowMs)) || found.awaitingCompletion) return views.viewOf(found, nowMs, noChoice);
      if (found.attempts >= attemptsMax) {
        return views.viewOf(await completion.failWith(found, "too_many_attempts"), nowMs, noChoice);
      }
      const session = await store.countAttempt(found, new Date(nowMs));
      if (session === undefined) return show(sessionId);
      const choice = { providerKey: form.get("provider") ?? undefined, mode: form.get("mode") ?? undefined };
      const offer = await views.offerFor(session, choice);
      if (offer === undefined) return views.viewOf(session, nowMs, noChoice);
      const values = readFormValues(form, offer.provider, offer.auth);
      if (values.problems.size > 0) return showAgain(session, offer, values, "Check the marked fields.");
      return offer.auth.mode === "oauth2"
        ? depart(session, offer, offer.auth, values)
        : connect(session, offer, values);
    },

    /** Ends a session because the end user does not want to connect. */
    async cancel(sessionId: string, cookie: string | undefined): Promise<PageView> {
      const session = await openedBy(sessionId, cookie);
      if ("kind" in session) return session;
      const nowMs = clock.now();
      if (hasEnded(statusAt(session, nowMs))) return views.viewOf(session, nowMs, noChoice);
      return views.viewOf(await completion.failWith(session, "cancelled"), nowMs, noChoice);
    },
  };
}

export const noChoice: Choice = { providerKey: undefined, mode: undefined };

/** The view of a request that is not served. */
export function refused(reason: RefusalReason): PageView {
  return { kind: "refused", reason };
}

/** Explains to the end user why credentials were not accepted. */
function problemOf({ fault, code }: ProofFailure, providerName: string): string {
  const detail = safeCode(code);
  return {
    unavailable: `${providerName} could not be reached (${detail}). Try again in a moment.`,
    malformed: `${providerName} gave an answer that could not be used (${detail}). Check the values and try again.`,
    rejected: `${providerName} did not accept these values (${detail}). Check them and try again.`,
  }[fault];
}
