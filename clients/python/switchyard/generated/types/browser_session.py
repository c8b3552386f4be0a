# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _LoginLinkRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The link. Only the response that creates it contains it.
    url: str


class LoginLink(_LoginLinkRequired, total=False):
    """A link that signs a browser in."""

    #: When it expires.
    expires_at: str


class _CurrentSessionRequired(TypedDict):
    #: The caller's tenant.
    tenant_id: str
    #: Who the caller is: the subject of a token, member:<id>, key:<id> or service:<name>.
    subject: str
    #: user, api_key, service or anonymous.
    kind: str
    #: The caller's roles.
    roles: List[str]
    #: The scopes that the roles and the credentials grant.
    scopes: List[str]
    #: The environments that the caller may use: any, production_only or non_production_only.
    environment_mode: str


class CurrentSession(_CurrentSessionRequired, total=False):
    """The caller."""

    #: The browser session; absent if the caller uses a key or a token.
    session: BrowserSession


class _BrowserSessionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: How the browser was signed in: link, oidc or saml.
    method: str
    #: The member who is signed in; empty for a session of an API key.
    member_id: str
    #: The API key whose access the session has; empty for a session of a member.
    api_key_id: str
    #: The SSO connection of the sign-in; empty for a link.
    connection_id: str
    #: The browser, as it named itself.
    user_agent: str
    #: The address of the browser.
    address: str
    #: Whether it is the session of this call.
    current: bool


class BrowserSession(_BrowserSessionRequired, total=False):
    """A browser in which somebody is signed in."""

    #: When somebody signed in.
    created_at: str
    #: When it was last used, to the minute.
    last_seen_at: str
    #: When it ends at the latest.
    expires_at: str
    #: When it ended, if it did.
    ended_at: str


class _SignOutRequired(TypedDict):
    #: The member who was signed out.
    member_id: str
    #: The number of browser sessions that ended.
    sessions: int


class SignOut(_SignOutRequired, total=False):
    """What a sign-out ended."""

    #: Tokens that were issued until then are refused.
    signed_out_at: str
