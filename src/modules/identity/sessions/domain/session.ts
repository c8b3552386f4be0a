import type { TenantId } from "../../../../platform/access/index.ts";

/** How a browser was signed in. */
export type SignInMethod = "link" | "oidc" | "saml";

/** Why a session ended. */
export type EndReason =
  | "signed_out"
  | "revoked"
  | "replaced"
  | "deactivated"
  | "connection_deleted"
  | "provider_signed_out";

/** Whose access a session has: a member's or an API key's. */
export type SessionOwner =
  | { readonly memberId: string; readonly apiKeyId: "" }
  | { readonly memberId: ""; readonly apiKeyId: string };

/** A browser in which somebody is signed in. */
export interface BrowserSession {
  readonly tenantId: TenantId;
  readonly id: string;
  /** Empty for a session of an API key. */
  readonly memberId: string;
  /** Empty for a session of a member. */
  readonly apiKeyId: string;
  readonly method: SignInMethod;
  /** The SSO connection; empty for a link. */
  readonly connectionId: string;
  /** Groups that the identity provider named. */
  readonly groups: readonly string[];
  /** Data for the sign-out at the identity provider. */
  readonly providerData: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly address: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly endReason: string;
}

/** A sign-in that becomes a session. */
export type NewSession = SessionOwner &
  Pick<BrowserSession, "method" | "connectionId" | "groups" | "providerData" | "userAgent" | "address"> & {
    /** The end that the identity provider sets, if any. */
    readonly notAfter: Date | undefined;
  };

const landing = "/console";

/**
 * The path that a browser goes to after a sign-in. Anything but a path of this service is replaced, because a link must not
 * lead to another site.
 */
export function safeReturnPath(wanted: string): string {
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) || wanted.includes("\\")) return landing;
  const base = "http://service.invalid";
  if (!URL.canParse(wanted, base)) return landing;
  const { origin, pathname, search, hash } = new URL(wanted, base);
  return origin === base && !pathname.startsWith("//") ? pathname + search + hash : landing;
}

/** Whether two owners are the same. */
export function isOwner(session: SessionOwner | BrowserSession, owner: SessionOwner): boolean {
  return session.memberId === owner.memberId && session.apiKeyId === owner.apiKeyId;
}
