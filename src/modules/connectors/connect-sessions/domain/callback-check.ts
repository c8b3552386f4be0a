/** The values that a callback is compared with, fixed when the authorization started. */
export interface ExpectedIssuer {
  /** The issuer that the manifest declares; undefined if it declares none. */
  readonly declared: string | undefined;
  /** The address that the end user was sent to. */
  readonly authorizeUrl: string;
}

/**
 * Whether the `iss` of a callback (RFC 9207) is the expected one. A declared issuer is compared by exact string, and must be
 * present. Otherwise an issuer that names another origin than the authorization endpoint is refused.
 */
export function isExpectedIssuer(issuers: readonly string[], { declared, authorizeUrl }: ExpectedIssuer): boolean {
  if (issuers.length > 1) return false;
  const [issuer] = issuers;
  if (declared !== undefined) return issuer === declared;
  return issuer === undefined || URL.parse(issuer)?.origin === new URL(authorizeUrl).origin;
}

/** An error code of a provider as far as it is safe to show: texts may contain anything. */
export function safeCode(code: string): string {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(code) ? code : "unknown";
}
