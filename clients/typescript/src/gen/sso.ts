// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Single sign-on: identity providers that sign people in, and the roles of their groups. */
export interface SsoService {
  /** Creates a connection to an identity provider. */
  createConnection(request: CreateSsoConnectionRequest, options?: CallOptions): Promise<SsoConnection>;

  /** Returns one connection, without its secrets. */
  getConnection(request: GetSsoConnectionRequest, options?: CallOptions): Promise<SsoConnection>;

  /** Lists the connections of the caller's tenant. */
  listConnections(request?: ListSsoConnectionsRequest, options?: CallOptions): List<SsoConnection>;

  /** Changes the fields that are present. oidc and saml are replaced as a whole; a client secret that is empty stays. */
  updateConnection(request: UpdateSsoConnectionRequest, options?: CallOptions): Promise<SsoConnection>;

  /** Looks the TXT records of a connection's email domains up, and stores which domains are verified. A verified domain stays so until it is removed from the email domains. */
  verifyDomains(request: VerifySsoDomainsRequest, options?: CallOptions): Promise<SsoConnection>;

  /** Deletes a connection and ends the sessions of people who signed in with it. */
  deleteConnection(request: DeleteSsoConnectionRequest, options?: CallOptions): Promise<SsoConnection>;

  /** Sets the roles of a group of the identity provider. They apply to members of the SCIM group with this display name, and to people who sign in with this group. */
  setGroupRoles(request: SetGroupRolesRequest, options?: CallOptions): Promise<GroupRoles>;

  /** Lists the groups that have roles. */
  listGroupRoles(request?: ListGroupRolesRequest, options?: CallOptions): List<GroupRoles>;

  /** Returns the roles of one group. */
  getGroupRoles(request: GetGroupRolesRequest, options?: CallOptions): Promise<GroupRoles>;

  /** Removes the roles of a group. */
  deleteGroupRoles(request: DeleteGroupRolesRequest, options?: CallOptions): Promise<GroupRoles>;
}

const ssoServiceOperations = {
  createConnection: { verb: "POST", path: "/api/v2/identity/connections", body: "*", keyed: true },
  getConnection: { verb: "GET", path: "/api/v2/identity/connections/{id}" },
  listConnections: { verb: "GET", path: "/api/v2/identity/connections", result: "cursor" },
  updateConnection: { verb: "PATCH", path: "/api/v2/identity/connections/{id}", body: "*", keyed: true },
  verifyDomains: { verb: "POST", path: "/api/v2/identity/connections/{id}:verify_domains", body: "*", keyed: true },
  deleteConnection: { verb: "DELETE", path: "/api/v2/identity/connections/{id}", keyed: true },
  setGroupRoles: { verb: "PUT", path: "/api/v2/identity/group-roles", body: "*", keyed: true },
  listGroupRoles: { verb: "GET", path: "/api/v2/identity/group-roles", result: "cursor" },
  getGroupRoles: { verb: "GET", path: "/api/v2/identity/group-roles:find" },
  deleteGroupRoles: { verb: "DELETE", path: "/api/v2/identity/group-roles/{id}", keyed: true },
} as const satisfies Record<keyof SsoService, Operation>;

/** Creates the service over a transport. */
export function createSsoService(transport: Transport): SsoService {
  return bindOperations<SsoService>(transport, ssoServiceOperations);
}

/** The settings of an OpenID Connect provider. */
export type OidcConnectionInput = {
  /** The issuer, exactly as in its discovery document. */
  readonly issuer: string;
  /** The client id of the service at the provider. */
  readonly client_id: string;
  /** The client secret; never returned. */
  readonly client_secret?: string;
  /** Scopes besides openid, email and profile. */
  readonly scopes?: readonly string[];
  /** The claim with the groups of the person: groups when empty. */
  readonly groups_claim?: string;
  /** Whether the email address counts as verified without the claim email_verified, which Entra ID does not send. */
  readonly trust_email?: boolean;
};

/** The settings of a SAML identity provider. */
export type SamlConnectionInput = {
  /** The entity id of the identity provider. */
  readonly idp_entity_id: string;
  /** Where sign-ins are sent, with the binding HTTP-Redirect. */
  readonly sso_url: string;
  /** Where sign-outs are sent, with the binding HTTP-Redirect; empty to sign out of this service only. */
  readonly slo_url?: string;
  /** One or two certificates (PEM) that sign assertions; two during a change of the certificate. */
  readonly certificates: readonly string[];
  /** The attribute with the email address; the name id when empty. */
  readonly email_attribute?: string;
  /** The attribute with the groups: groups when empty. */
  readonly groups_attribute?: string;
  /** The attribute with the display name: displayName when empty. */
  readonly name_attribute?: string;
  /** Whether the identity provider may start a sign-in. Anybody can then sign a browser in with their own account. */
  readonly allow_idp_initiated?: boolean;
  /** Whether assertions must be encrypted, with the certificate in the metadata. */
  readonly require_encryption?: boolean;
};

/** Creates a connection with either oidc or saml. */
export type CreateSsoConnectionRequest = {
  /** A name for people, shown on the sign-in page. */
  readonly name: string;
  /** Whether people who are not members become members at their first sign-in. */
  readonly just_in_time?: boolean;
  /** The roles of members who are created at their first sign-in. */
  readonly default_roles?: readonly string[];
  /** The domains of email addresses that may sign in; every domain when empty. */
  readonly email_domains?: readonly string[];
  /** The settings of an OpenID Connect provider. */
  readonly oidc?: OidcConnectionInput;
  /** The settings of a SAML identity provider. */
  readonly saml?: SamlConnectionInput;
};

/** A connection to an identity provider that signs people in. */
export type SsoConnection = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** A name for people, shown on the sign-in page. */
  readonly name: string;
  /** oidc or saml. */
  readonly kind: string;
  /** active or disabled. */
  readonly status: string;
  /** Whether people who are not members become members at their first sign-in. */
  readonly just_in_time: boolean;
  /** The roles of members who are created at their first sign-in. */
  readonly default_roles: readonly string[];
  /** The domains of email addresses that may sign in; every domain when empty. */
  readonly email_domains: readonly string[];
  /** The settings of an OpenID Connect provider. */
  readonly oidc?: OidcConnection;
  /** The settings of a SAML identity provider. */
  readonly saml?: SamlConnection;
  /** Where people start to sign in. */
  readonly sign_in_url: string;
  /** Where the provider sends people back: the redirect URI of OIDC, the ACS URL of SAML. Register it at the provider. */
  readonly callback_url: string;
  /** The entity id and the address of the SAML metadata; empty for OIDC. */
  readonly metadata_url: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** The email domains, and what proves that they belong to the tenant. */
  readonly domains: readonly SsoDomain[];
  /** Whether members with an address of a verified domain can sign in only with this connection. An active connection is needed. */
  readonly enforced: boolean;
  /** When the records of the domains were last looked up; absent if they never were. */
  readonly domains_checked_at?: string;
  /** When somebody first signed in with the current settings of the provider; absent until then. */
  readonly first_sign_in_at?: string;
};

/** The settings of an OpenID Connect provider. */
export type OidcConnection = {
  /** The issuer, exactly as in its discovery document. */
  readonly issuer: string;
  /** The client id of the service at the provider. */
  readonly client_id: string;
  /** The client secret; never returned. */
  readonly client_secret: string;
  /** Scopes besides openid, email and profile. */
  readonly scopes: readonly string[];
  /** The claim with the groups of the person: groups when empty. */
  readonly groups_claim: string;
  /** Whether the email address counts as verified without the claim email_verified, which Entra ID does not send. */
  readonly trust_email: boolean;
};

/** The settings of a SAML identity provider. */
export type SamlConnection = {
  /** The entity id of the identity provider. */
  readonly idp_entity_id: string;
  /** Where sign-ins are sent, with the binding HTTP-Redirect. */
  readonly sso_url: string;
  /** Where sign-outs are sent, with the binding HTTP-Redirect; empty to sign out of this service only. */
  readonly slo_url: string;
  /** One or two certificates (PEM) that sign assertions; two during a change of the certificate. */
  readonly certificates: readonly string[];
  /** The attribute with the email address; the name id when empty. */
  readonly email_attribute: string;
  /** The attribute with the groups: groups when empty. */
  readonly groups_attribute: string;
  /** The attribute with the display name: displayName when empty. */
  readonly name_attribute: string;
  /** Whether the identity provider may start a sign-in. Anybody can then sign a browser in with their own account. */
  readonly allow_idp_initiated: boolean;
  /** Whether assertions must be encrypted, with the certificate in the metadata. */
  readonly require_encryption: boolean;
};

/** An email domain of a connection. */
export type SsoDomain = {
  /** The domain. */
  readonly domain: string;
  /** Whether its TXT record was found. */
  readonly verified: boolean;
  /** The name of the TXT record. */
  readonly record_name: string;
  /** The value of the TXT record. */
  readonly record_value: string;
};

/** Identifies a connection. */
export type GetSsoConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
};

/** Request for a page of connections. */
export type ListSsoConnectionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** A list of roles. */
export type SsoDefaultRoles = {
  /** The roles. */
  readonly roles?: readonly string[];
};

/** A list of domains. */
export type SsoEmailDomains = {
  /** The domains. */
  readonly domains?: readonly string[];
};

/** Changes the fields that are present. */
export type UpdateSsoConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
  /** A name for people, shown on the sign-in page. */
  readonly name?: string;
  /** active or disabled. */
  readonly status?: "active" | "disabled";
  /** Whether people who are not members become members at their first sign-in. */
  readonly just_in_time?: boolean;
  /** The roles of members who are created at their first sign-in. */
  readonly default_role_set?: SsoDefaultRoles;
  /** The domains of email addresses that may sign in. */
  readonly email_domain_set?: SsoEmailDomains;
  /** The settings of an OpenID Connect provider. */
  readonly oidc?: OidcConnectionInput;
  /** The settings of a SAML identity provider. */
  readonly saml?: SamlConnectionInput;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
  /** Whether members with an address of a verified domain can sign in only with this connection. It needs a verified domain. */
  readonly enforced?: boolean;
};

/** Selects the connection whose domains to verify. */
export type VerifySsoDomainsRequest = {
  /** The connection's id. */
  readonly id: string;
};

/** Selects the connection to delete. */
export type DeleteSsoConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
};

/** Sets the roles of a group. */
export type SetGroupRolesRequest = {
  /** The name of the group, compared without regard to case. */
  readonly group: string;
  /** The roles of its people. */
  readonly roles: readonly string[];
};

/** A group of the identity provider and its roles. */
export type GroupRoles = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The name of the group, compared without regard to case. */
  readonly group: string;
  /** The roles of its people. */
  readonly roles: readonly string[];
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** Request for a page of groups. */
export type ListGroupRolesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Identifies a group. */
export type GetGroupRolesRequest = {
  /** The name of the group, compared without regard to case. */
  readonly group: string;
};

/** Selects the group. */
export type DeleteGroupRolesRequest = {
  /** The record's id. */
  readonly id: string;
};
