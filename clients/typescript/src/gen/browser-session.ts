// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Browser sessions: how people use the service in a browser. A session is kept by the service; the browser has a cookie. */
export interface BrowserSessionService {
  /** Creates a link that signs a browser in, once and within minutes, with the access of the caller. It works for API keys and for members. */
  createLoginLink(request?: CreateLoginLinkRequest, options?: CallOptions): Promise<LoginLink>;

  /** Returns the caller: who it is, its roles and, for a browser, its session. */
  getCurrentSession(request?: GetCurrentSessionRequest, options?: CallOptions): Promise<CurrentSession>;

  /** Lists the caller's own browser sessions that have not ended. */
  list(request?: ListBrowserSessionsRequest, options?: CallOptions): List<BrowserSession>;

  /** Ends one of the caller's own browser sessions, on every node within a second. An admin can end every session of the tenant. A session that has ended stays unchanged. */
  revoke(request: RevokeBrowserSessionRequest, options?: CallOptions): Promise<BrowserSession>;

  /** Signs a person out everywhere, on every node within a second: ends all browser sessions of the member and of the member's API keys, voids the login links, and refuses tokens that were issued until now. API keys stay valid. Members can sign themselves out; an admin can sign out every member of the tenant. */
  signOutEverywhere(request?: SignOutEverywhereRequest, options?: CallOptions): Promise<SignOut>;
}

const browserSessionServiceOperations = {
  createLoginLink: { verb: "POST", path: "/api/v2/identity/login-links", body: "*", keyed: true },
  getCurrentSession: { verb: "GET", path: "/api/v2/identity/session" },
  list: { verb: "GET", path: "/api/v2/identity/sessions", result: "cursor" },
  revoke: { verb: "POST", path: "/api/v2/identity/sessions/{id}/revoke", body: "*", keyed: true },
  signOutEverywhere: { verb: "POST", path: "/api/v2/identity/sign-out", body: "*", keyed: true },
} as const satisfies Record<keyof BrowserSessionService, Operation>;

/** Creates the service over a transport. */
export function createBrowserSessionService(transport: Transport): BrowserSessionService {
  return bindOperations<BrowserSessionService>(transport, browserSessionServiceOperations);
}

/** Creates a link for the caller. */
export type CreateLoginLinkRequest = {
  /** Where the browser goes after the sign-in: a path of this service, such as /docs. */
  readonly return_to?: string;
};

/** A link that signs a browser in. */
export type LoginLink = {
  /** The id, a ULID. */
  readonly id: string;
  /** The link. Only the response that creates it contains it. */
  readonly url: string;
  /** When it expires. */
  readonly expires_at?: string;
};

/** Asks who the caller is. */
export type GetCurrentSessionRequest = Record<never, never>;

/** The caller. */
export type CurrentSession = {
  /** The caller's tenant. */
  readonly tenant_id: string;
  /** Who the caller is: the subject of a token, member:<id>, key:<id> or service:<name>. */
  readonly subject: string;
  /** user, api_key, service or anonymous. */
  readonly kind: string;
  /** The caller's roles. */
  readonly roles: readonly string[];
  /** The scopes that the roles and the credentials grant. */
  readonly scopes: readonly string[];
  /** The environments that the caller may use: any, production_only or non_production_only. */
  readonly environment_mode: string;
  /** The browser session; absent if the caller uses a key or a token. */
  readonly session?: BrowserSession;
};

/** A browser in which somebody is signed in. */
export type BrowserSession = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** How the browser was signed in: link, oidc or saml. */
  readonly method: string;
  /** The member who is signed in; empty for a session of an API key. */
  readonly member_id: string;
  /** The API key whose access the session has; empty for a session of a member. */
  readonly api_key_id: string;
  /** The SSO connection of the sign-in; empty for a link. */
  readonly connection_id: string;
  /** The browser, as it named itself. */
  readonly user_agent: string;
  /** The address of the browser. */
  readonly address: string;
  /** When somebody signed in. */
  readonly created_at?: string;
  /** When it was last used, to the minute. */
  readonly last_seen_at?: string;
  /** When it ends at the latest. */
  readonly expires_at?: string;
  /** When it ended, if it did. */
  readonly ended_at?: string;
  /** Whether it is the session of this call. */
  readonly current: boolean;
};

/** Request for a page of browser sessions. */
export type ListBrowserSessionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects the session to end. */
export type RevokeBrowserSessionRequest = {
  /** The session's id. */
  readonly id: string;
};

/** Selects the person to sign out. */
export type SignOutEverywhereRequest = {
  /** The member's id; the caller when empty. */
  readonly member_id?: string;
};

/** What a sign-out ended. */
export type SignOut = {
  /** The member who was signed out. */
  readonly member_id: string;
  /** The number of browser sessions that ended. */
  readonly sessions: number;
  /** Tokens that were issued until then are refused. */
  readonly signed_out_at?: string;
};
