import { timingSafeEqual } from "node:crypto";
import type { TenantId } from "../../../platform/access/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../area.ts";
import { inTenant } from "../../tenant-work.ts";
import { attemptStore, connectionStore, connectionUrls } from "../connections/index.ts";
import {
  formToken,
  hasFormToken,
  hashOf,
  isOwnForm,
  isSecret,
  newSecret,
  readCookie,
  type SessionAuthenticator,
  type SessionMetrics,
  type SessionService,
  safeReturnPath,
  sessionStore,
  setCookie,
} from "../sessions/index.ts";
import type { OidcFlow } from "./oidc-flow.ts";
import type { PageRequest, PageResponse, PageTools } from "./page-request.ts";
import { createPageShell, type PageDocument } from "./page-shell.ts";
import {
  departureDocument,
  linkDocument,
  type PageRefusal,
  refusalDocument,
  sessionsDocument,
  signedOutDocument,
  signInDocument,
} from "./page-views.ts";
import type { SamlPages } from "./saml-pages.ts";
import type { SessionStarter, SigningBrowser } from "./session-start.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly metrics: SessionMetrics;
  readonly starter: SessionStarter;
  readonly sessions: SessionService;
  readonly authenticator: SessionAuthenticator;
  readonly oidc: OidcFlow;
  readonly samlPages: ((tools: PageTools) => SamlPages) | undefined;
  readonly publicUrl: () => string;
  readonly sessionMs: number;
}

const attemptMs = 10 * 60_000;
const listedMax = 100;
const idPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Creates the pages on which people sign in and out. */
export function createSignInPages(dependencies: Dependencies) {
  const { db, clock, log, metrics, starter, sessions, authenticator, oidc, publicUrl, sessionMs } = dependencies;
  const shell = createPageShell();
  const url = () => new URL(publicUrl());
  const ownOrigin = () => url().origin;
  const sessionCookieOf = ({ header }: PageRequest) => readCookie("session", header("cookie"), url());
  const attemptCookieOf = ({ header }: PageRequest) => readCookie("attempt", header("cookie"), url());

  const respond = (document: PageDocument, status = 200): PageResponse => ({
    ...{ status, headers: shell.headers, body: shell.render(document), isRefused: false },
  });

  function refuse(reason: PageRefusal, cause?: unknown): PageResponse {
    metrics.refused(reason);
    log.info({ reason, err: cause }, "a sign-in was refused");
    const { status, document } = refusalDocument(reason);
    const isRefused = reason !== "provider_unavailable" && reason !== "needs_https";
    return { ...respond(document, status), isRefused };
  }

  const redirect = (location: string, cookie?: string): PageResponse => ({
    status: 303,
    headers: {
      ...{ location, "cache-control": "no-store", "referrer-policy": "no-referrer" },
      ...(cookie !== undefined && { "set-cookie": cookie }),
    },
    body: "",
    isRefused: false,
  });

  const browserOf = (request: PageRequest): SigningBrowser => ({
    userAgent: request.header("user-agent") ?? "",
    address: request.address,
    previousCookie: sessionCookieOf(request),
  });

  const sessionCookie = (cookie: string) => setCookie("session", cookie, url(), Math.floor(sessionMs / 1000));

  const tools: PageTools = {
    ...{ respond, refuse, redirect, browserOf },
    async signIn(request, connection, person, returnTo) {
      const started = await starter.byProvider(connection, person, browserOf(request));
      return "refusal" in started
        ? refuse(started.refusal)
        : redirect(safeReturnPath(returnTo), sessionCookie(started.cookie));
    },
  };
  const samlPages = dependencies.samlPages?.(tools);

  async function openLink(request: PageRequest): Promise<PageResponse> {
    if (!isOwnForm(request, ownOrigin())) return refuse("other_site");
    const token = request.form.get("token") ?? "";
    if (!isSecret(token)) return refuse("invalid_link");
    const started = await starter.byLink(token, browserOf(request));
    if ("refusal" in started) return refuse(started.refusal);
    return redirect(safeReturnPath(started.returnTo), sessionCookie(started.cookie));
  }

  async function start(connectionId: string, { query }: PageRequest): Promise<PageResponse> {
    const connection = await connectionStore(db.sql).findForSignIn(connectionId);
    if (connection === undefined) return refuse("unknown_connection");
    const cookie = newSecret();
    // A SAML id must start with a letter or an underscore.
    const state = connection.kind === "oidc" ? newSecret() : `_${newSecret()}`;
    const { callback } = connectionUrls(connection, publicUrl());
    let target: string;
    try {
      if (connection.kind === "oidc") target = await oidc.start(connection, callback, { state, cookie });
      else if (samlPages === undefined) return refuse("unknown_connection");
      else target = await samlPages.start(connection, state);
    } catch (error) {
      return refuse("provider_unavailable", error);
    }
    const nowMs = clock.now();
    const wanted = query.get("return_to") ?? "";
    await attemptStore(db.sql).insert(
      {
        ...{ tenantId: connection.tenantId, id: ulid(nowMs), connectionId, cookieHash: hashOf(cookie) },
        ...{
          returnTo: wanted === "" ? "" : safeReturnPath(wanted).slice(0, 1024),
          expiresAt: new Date(nowMs + attemptMs),
        },
      },
      hashOf(state),
      new Date(nowMs),
    );
    return redirect(target, setCookie("attempt", cookie, url(), attemptMs / 1000));
  }

  async function finishOidc(connectionId: string, request: PageRequest): Promise<PageResponse> {
    const connection = await connectionStore(db.sql).findForSignIn(connectionId);
    if (connection?.kind !== "oidc") return refuse("unknown_connection");
    const state = request.query.get("state") ?? "";
    const cookie = attemptCookieOf(request);
    const store = attemptStore(db.sql);
    const now = new Date(clock.now());
    const found = isSecret(state) ? await store.findByState(connection, hashOf(state), now) : undefined;
    if (found === undefined) return refuse("invalid_state");
    // A request of another browser does not end the sign-in of this one.
    if (cookie === undefined || !timingSafeEqual(hashOf(cookie), found.cookieHash)) return refuse("other_browser");
    if ((await store.spendState(connection, hashOf(state), now)) === undefined) return refuse("invalid_state");
    const { callback } = connectionUrls(connection, publicUrl());
    try {
      const person = await oidc.finish(connection, callback, { state, cookie }, request.query);
      return await tools.signIn(request, connection, person, found.returnTo);
    } catch (error) {
      return refuse("provider_refused", error);
    }
  }

  async function showSessions(request: PageRequest): Promise<PageResponse> {
    const cookie = sessionCookieOf(request);
    const live = cookie === undefined ? undefined : await authenticator.find(cookie);
    if (live === undefined) return redirect("/auth/sign-in");
    const { tenantId, memberId, apiKeyId } = live.session;
    const owner = { memberId, apiKeyId } as { memberId: string; apiKeyId: "" };
    const page = { fetch: listedMax, offset: 0, after: undefined };
    const { rows } = await sessionStore(db.sql).list(tenantId, owner, new Date(clock.now()), page);
    return respond(sessionsDocument(live, rows, formToken(cookie!)));
  }

  /** Runs an action of a form of the signed-in person. */
  async function withForm(
    request: PageRequest,
    act: (cookie: string, tenantId: TenantId) => Promise<PageResponse>,
  ): Promise<PageResponse> {
    const cookie = sessionCookieOf(request);
    if (cookie === undefined) return redirect("/auth/sign-in");
    if (!isOwnForm(request, ownOrigin()) || !hasFormToken(request.form, cookie)) return refuse("other_site");
    const live = await authenticator.find(cookie);
    return live === undefined ? redirect("/auth/sign-in") : act(cookie, live.session.tenantId);
  }

  function revoke(request: PageRequest): Promise<PageResponse> {
    return withForm(request, async (cookie, tenantId) => {
      const live = (await authenticator.find(cookie))!;
      const id = request.form.get("id") ?? "";
      const wanted = idPattern.test(id) ? await sessionStore(db.sql).find(tenantId, id) : undefined;
      const isOwn = wanted?.memberId === live.session.memberId && wanted.apiKeyId === live.session.apiKeyId;
      if (isOwn) await inTenant({ db, clock }, tenantId, (context) => sessions.end(context, id, "revoked"));
      return redirect("/auth/sessions");
    });
  }

  function signOut(request: PageRequest): Promise<PageResponse> {
    return withForm(request, async (cookie, tenantId) => {
      const ended = await inTenant({ db, clock }, tenantId, (context) =>
        sessions.endByCookie(context, cookie, "signed_out"),
      );
      const removal = { "set-cookie": setCookie("session", "", url(), 0) };
      const target = ended === undefined ? undefined : await samlPages?.signOutUrl(ended);
      const page = respond(target === undefined ? signedOutDocument() : departureDocument(target));
      return { ...page, headers: { ...page.headers, ...removal } };
    });
  }

  /** Whether the cookies of sign-ins are safe at the public address. */
  function isSafeAddress(): boolean {
    const { protocol, hostname } = url();
    return protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  }

  return {
    /** Undefined if there is no such page. */
    async handle(request: PageRequest): Promise<PageResponse | undefined> {
      const { method, path, query } = request;
      if (!isSafeAddress()) return refuse("needs_https");
      const [first, second = "", third] = path.split("/");
      switch (`${method} ${first}`) {
        case "GET sign-in": {
          if (path !== "sign-in") return undefined;
          const workspace = (query.get("workspace") ?? "").slice(0, 64);
          const connections = workspace === "" ? [] : await connectionStore(db.sql).listForSignIn(workspace);
          return respond(signInDocument(workspace, connections, query.get("return_to") ?? ""));
        }
        case "GET link":
          return path === "link" ? respond(linkDocument()) : undefined;
        case "POST link":
          return path === "link" ? openLink(request) : undefined;
        case "GET start":
          return idPattern.test(second) && third === undefined ? start(second, request) : undefined;
        case "GET callback":
          return idPattern.test(second) && third === undefined ? finishOidc(second, request) : undefined;
        case "GET sessions":
          return path === "sessions" ? showSessions(request) : undefined;
        case "POST sessions":
          return path === "sessions/revoke" ? revoke(request) : undefined;
        case "POST sign-out":
          return path === "sign-out" ? signOut(request) : undefined;
        case "GET saml":
        case "POST saml":
          return samlPages?.handle(request, second, third ?? "");
        default:
          return undefined;
      }
    },
  };
}
