# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _SsoConnectionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: A name for people, shown on the sign-in page.
    name: str
    #: oidc or saml.
    kind: str
    #: active or disabled.
    status: str
    #: Whether people who are not members become members at their first sign-in.
    just_in_time: bool
    #: The roles of members who are created at their first sign-in.
    default_roles: List[str]
    #: The domains of email addresses that may sign in; every domain when empty.
    email_domains: List[str]
    #: Where people start to sign in.
    sign_in_url: str
    #: Where the provider sends people back: the redirect URI of OIDC, the ACS URL of SAML. Register it at the provider.
    callback_url: str
    #: The entity id and the address of the SAML metadata; empty for OIDC.
    metadata_url: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int
    #: The email domains, and what proves that they belong to the tenant.
    domains: List[SsoDomain]
    #: Whether members with an address of a verified domain can sign in only with this connection. An active connection is needed.
    enforced: bool


class SsoConnection(_SsoConnectionRequired, total=False):
    """A connection to an identity provider that signs people in."""

    #: The settings of an OpenID Connect provider.
    oidc: OidcConnection
    #: The settings of a SAML identity provider.
    saml: SamlConnection
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: When the records of the domains were last looked up; absent if they never were.
    domains_checked_at: str
    #: When somebody first signed in with the current settings of the provider; absent until then.
    first_sign_in_at: str


class OidcConnection(TypedDict):
    """The settings of an OpenID Connect provider."""

    #: The issuer, exactly as in its discovery document.
    issuer: str
    #: The client id of the service at the provider.
    client_id: str
    #: The client secret; never returned.
    client_secret: str
    #: Scopes besides openid, email and profile.
    scopes: List[str]
    #: The claim with the groups of the person: groups when empty.
    groups_claim: str
    #: Whether the email address counts as verified without the claim email_verified, which Entra ID does not send.
    trust_email: bool


class SamlConnection(TypedDict):
    """The settings of a SAML identity provider."""

    #: The entity id of the identity provider.
    idp_entity_id: str
    #: Where sign-ins are sent, with the binding HTTP-Redirect.
    sso_url: str
    #: Where sign-outs are sent, with the binding HTTP-Redirect; empty to sign out of this service only.
    slo_url: str
    #: One or two certificates (PEM) that sign assertions; two during a change of the certificate.
    certificates: List[str]
    #: The attribute with the email address; the name id when empty.
    email_attribute: str
    #: The attribute with the groups: groups when empty.
    groups_attribute: str
    #: The attribute with the display name: displayName when empty.
    name_attribute: str
    #: Whether the identity provider may start a sign-in. Anybody can then sign a browser in with their own account.
    allow_idp_initiated: bool
    #: Whether assertions must be encrypted, with the certificate in the metadata.
    require_encryption: bool


class SsoDomain(TypedDict):
    """An email domain of a connection."""

    #: The domain.
    domain: str
    #: Whether its TXT record was found.
    verified: bool
    #: The name of the TXT record.
    record_name: str
    #: The value of the TXT record.
    record_value: str


class _OidcConnectionInputRequired(TypedDict):
    #: The issuer, exactly as in its discovery document.
    issuer: str
    #: The client id of the service at the provider.
    client_id: str


class OidcConnectionInput(_OidcConnectionInputRequired, total=False):
    """The settings of an OpenID Connect provider."""

    #: The client secret; never returned.
    client_secret: str
    #: Scopes besides openid, email and profile.
    scopes: Sequence[str]
    #: The claim with the groups of the person: groups when empty.
    groups_claim: str
    #: Whether the email address counts as verified without the claim email_verified, which Entra ID does not send.
    trust_email: bool


class _SamlConnectionInputRequired(TypedDict):
    #: The entity id of the identity provider.
    idp_entity_id: str
    #: Where sign-ins are sent, with the binding HTTP-Redirect.
    sso_url: str
    #: One or two certificates (PEM) that sign assertions; two during a change of the certificate.
    certificates: Sequence[str]


class SamlConnectionInput(_SamlConnectionInputRequired, total=False):
    """The settings of a SAML identity provider."""

    #: Where sign-outs are sent, with the binding HTTP-Redirect; empty to sign out of this service only.
    slo_url: str
    #: The attribute with the email address; the name id when empty.
    email_attribute: str
    #: The attribute with the groups: groups when empty.
    groups_attribute: str
    #: The attribute with the display name: displayName when empty.
    name_attribute: str
    #: Whether the identity provider may start a sign-in. Anybody can then sign a browser in with their own account.
    allow_idp_initiated: bool
    #: Whether assertions must be encrypted, with the certificate in the metadata.
    require_encryption: bool


class SsoDefaultRoles(TypedDict, total=False):
    """A list of roles."""

    #: The roles.
    roles: Sequence[str]


class SsoEmailDomains(TypedDict, total=False):
    """A list of domains."""

    #: The domains.
    domains: Sequence[str]


class _GroupRolesRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The name of the group, compared without regard to case.
    group: str
    #: The roles of its people.
    roles: List[str]
    #: The version of the record.
    record_version: int


class GroupRoles(_GroupRolesRequired, total=False):
    """A group of the identity provider and its roles."""

    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
