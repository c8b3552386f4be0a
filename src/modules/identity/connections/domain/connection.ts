import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** The settings of an OpenID Connect provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  readonly trustEmail: boolean;
}

/** The settings of a SAML identity provider. */
export interface SamlSettings {
  readonly idpEntityId: string;
  readonly ssoUrl: string;
  readonly sloUrl: string;
  /** PEM, one or two. */
  readonly certificates: readonly string[];
  readonly emailAttribute: string;
  readonly groupsAttribute: string;
  readonly nameAttribute: string;
  readonly allowIdpInitiated: boolean;
  readonly requireEncryption: boolean;
  /** The certificate of this service for the connection, PEM. */
  readonly ownCertificate: string;
}

interface Common extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly name: string;
  readonly status: "active" | "disabled";
  readonly justInTime: boolean;
  readonly defaultRoles: readonly string[];
  readonly emailDomains: readonly string[];
  /** Those of the email domains that have the TXT record of the connection. */
  readonly verifiedDomains: readonly string[];
  /** When the records were last looked up; null if they never were. */
  readonly domainsCheckedAt: Date | null;
  /** Whether members with an address of a verified domain can sign in only with this connection. */
  readonly enforced: boolean;
  /** When somebody first signed in with the current settings; null until then. */
  readonly firstSignInAt: Date | null;
  /** Sealed: the client secret of OIDC, the private key of SAML; empty if there is none. */
  readonly ciphertext: string;
}

/** A connection to an OpenID Connect provider. */
export interface OidcConnection extends Common {
  readonly kind: "oidc";
  readonly settings: OidcSettings;
}

/** A connection to a SAML identity provider. */
export interface SamlConnection extends Common {
  readonly kind: "saml";
  readonly settings: SamlSettings;
}

/** An identity provider that signs people of a tenant in. */
export type SsoConnection = OidcConnection | SamlConnection;

/** The fields that an update can change. */
export interface ConnectionChange {
  readonly name?: string | undefined;
  readonly status?: "active" | "disabled" | undefined;
  readonly justInTime?: boolean | undefined;
  readonly defaultRoles?: readonly string[] | undefined;
  readonly emailDomains?: readonly string[] | undefined;
  readonly verifiedDomains?: readonly string[] | undefined;
  readonly domainsCheckedAt?: Date | undefined;
  readonly enforced?: boolean | undefined;
  readonly settings?: OidcSettings | SamlSettings | undefined;
  readonly firstSignInAt?: null;
  readonly ciphertext?: string | undefined;
  readonly keyId?: string | undefined;
}

/** A group of the identity provider and its roles. */
export interface GroupRoles extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
}

/** A person as an identity provider names it, after all checks. */
export interface ExternalPerson {
  readonly subject: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly displayName: string;
  readonly groups: readonly string[];
  /** The end of the session that the identity provider sets, in milliseconds. */
  readonly notAfterMs?: number | undefined;
  /** Data for the sign-out at the identity provider. */
  readonly providerData: Readonly<Record<string, string>>;
}

/** The TXT record of a domain that belongs to the tenant of a connection. No other tenant has a connection with this id. */
export function domainRecordOf({ id }: Pick<SsoConnection, "id">, domain: string) {
  return { name: `_switchyard.${domain}`, value: `switchyard-connection=${id}` };
}

/**
 * Whether an email address is in one of the domains; every address is if there are no domains. An address with more than one @
 * is in none: mail programs do not agree on where its domain starts.
 */
export function isInDomains(email: string, domains: readonly string[]): boolean {
  const [local, domain = "", ...more] = email.toLowerCase().split("@");
  return domains.length === 0 || (local !== "" && more.length === 0 && domains.includes(domain));
}
