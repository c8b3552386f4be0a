# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _ConnectionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The name.
    name: str
    #: The provider.
    provider_key: str
    #: The provider configuration that it was created with; empty if it has its own credentials.
    provider_config_id: str
    #: active, needs_account (unusable until one of account_choices is chosen), needs_reauth (unusable until access is granted again) or revoked.
    status: str
    #: What it may do, in the provider's terms.
    scopes: List[str]
    #: The version of the record.
    record_version: int
    #: How requests are authenticated: a mode of the provider's manifest, such as oauth2 or api_key; empty for a provider of notifications.
    auth_mode: str
    #: Why it needs reauthorization: grant_rejected (the provider no longer accepts the grant), refresh_interrupted (a refresh was cut off and its new credentials are lost), credentials_rejected (the provider refused the credentials) or refresh_token_missing; empty otherwise.
    status_reason: str
    #: What became of the grant at the provider after a revocation: pending, succeeded, failed or not_offered; empty if it is not revoked.
    provider_revocation: str
    #: Why the last refresh failed (for example: unavailable); empty after a successful one.
    last_refresh_error: str
    #: The class of the last test's result, such as ok or auth_expired; empty if it was never tested.
    last_test_class: str
    #: The environment.
    environment_id: str
    #: The last 20 attempts to connect the account and to renew its tokens, newest first; only in the answer of GetConnection.
    attempts: List[ConnectionAttempt]
    #: The accounts that the grant reaches, such as the sites of a person; only while one of them must be chosen with UpdateConnection.
    account_choices: List[ConnectionAccount]


class Connection(_ConnectionRequired, total=False):
    """Settings and credentials to act for a tenant at a provider; shown without the credentials."""

    #: The end user for whom it acts, if any.
    end_user: ConnectionEndUser
    #: Settings that are not secret, such as a host name.
    settings: Dict[str, Any]
    #: When it expires, if ever.
    expires_at: str
    #: When its credentials were last renewed, if ever.
    last_refreshed_at: str
    #: When it was revoked, if ever.
    revoked_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: The account at the provider, if it is known.
    account: ConnectionAccount
    #: When it was last tested, if ever.
    last_tested_at: str
    #: When the grant ends whatever is done with it, so that access must be granted again before; absent if it does not end, or if the provider does not say when.
    grant_expires_at: str


class ConnectionEndUser(TypedDict):
    """An end user for whom a connection acts."""

    #: The tenant's id of the end user.
    id: str
    #: Their email address, if known.
    email: str
    #: Their name, if known.
    display_name: str


class ConnectionAccount(TypedDict):
    """The account at a provider that a connection belongs to."""

    #: The provider's id of the account.
    id: str
    #: A name for people, such as a login or an email address; empty if unknown.
    label: str


class _ConnectionAttemptRequired(TypedDict):
    #: connect (a connect session) or refresh (a token request).
    kind: str
    #: Why tokens were renewed: due, requested, rejected (the provider refused the previous ones), idle (the refresh token would end for lack of use) or interrupted (the outcome of the previous request is unknown); empty for a connect session.
    cause: str
    #: The connect session; empty for a refresh.
    connect_session_id: str
    #: succeeded, refused, malformed (the answer was none of a token endpoint) or unavailable (it may work later).
    outcome: str
    #: Why it did not succeed (for example: invalid_grant); empty if it did.
    code: str


class ConnectionAttempt(_ConnectionAttemptRequired, total=False):
    """One attempt to connect an account or to renew its tokens."""

    #: When it ended.
    at: str


class _ConnectionEndUserInputRequired(TypedDict):
    #: The tenant's id of the end user.
    id: str


class ConnectionEndUserInput(_ConnectionEndUserInputRequired, total=False):
    """An end user for whom a connection acts."""

    #: Their email address, if known.
    email: str
    #: Their name, if known.
    display_name: str


#: The result of a test.
TestConnectionResponse = TypedDict(
    "TestConnectionResponse",
    {
        #: Whether the provider accepted the credentials.
        "ok": "bool",
        #: ok; unverified (the provider offers no request to check an account); unusable (see code); unreachable (no response); or the class of the provider's response: rate_limited, auth_expired, permission_denied, not_found, conflict, invalid_input, unavailable, failed or malformed.
        "class": "str",
        #: The provider's error code, or why the connection is unusable: revoked, needs_account, needs_reauth, account_missing (the credentials do not reach the account of the connection), expired, decrypt_failed or refresh_failed.
        "code": "str",
        #: What failed, in words.
        "message": "str",
        #: The account that the provider reported, if any.
        "account": "ConnectionAccount",
        #: The status of the connection after the test.
        "status": "str",
        #: How long the provider took to respond, in milliseconds.
        "duration_ms": "int",
    },
    total=False,
)
