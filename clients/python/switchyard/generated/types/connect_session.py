# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _ConnectSessionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment, whose provider configs are used.
    environment_id: str
    #: pending, authorizing (the end user is at the provider, or awaits completion), completed, failed, expired or revoked.
    status: str
    #: The providers that the end user can choose from.
    allowed_provider_keys: List[str]
    #: The provider config to use; the provider's default config when empty.
    provider_config_id: str
    #: The connection to reconnect; empty for a new one.
    connection_id: str
    #: The scopes to request instead of the default ones.
    scopes: List[str]
    #: The origins whose pages may embed the hosted page and get a message about the result.
    allowed_origins: List[str]
    #: Where the end user is sent after success; the hosted page shows the result when empty.
    success_redirect_uri: str
    #: Where the end user is sent after a failure; the hosted page shows the error when empty.
    error_redirect_uri: str
    #: Whether the account is connected only after CompleteConnectSession.
    require_completion: bool
    #: Whether the end user has finished and CompleteConnectSession is awaited.
    awaiting_completion: bool
    #: The name of a new connection.
    connection_name: str
    #: The connection that the session created or reconnected.
    result_connection_id: str
    #: Why it failed: cancelled, access_denied, account_mismatch, end_user_mismatch, issuer_mismatch, redirect_mismatch, provider_refused, provider_unavailable, provider_malformed, provider_changed, connection_unusable, too_many_connections or too_many_attempts; empty otherwise.
    error_code: str
    #: The version of the record.
    record_version: int
    #: The provider's error code behind error_code (for example: invalid_client), or what came instead of an answer (http_302, empty_answer); empty if there is none.
    error_detail: str


class ConnectSession(_ConnectSessionRequired, total=False):
    """A session in which an end user connects one account."""

    #: The end user.
    end_user: ConnectSessionEndUser
    #: When it expires.
    expires_at: str
    #: When it ended, if it did.
    ended_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: The token that opens the session once. Only the response that creates the session contains it.
    token: str
    #: The link for the end user, with the token in its fragment. Only the response that creates the session contains it.
    connect_url: str


class ConnectSessionEndUser(TypedDict):
    """The end user of a connect session."""

    #: The tenant's id of the end user.
    id: str
    #: Their email address, if known. The hosted page shows it.
    email: str
    #: Their name, if known. The hosted page shows it.
    display_name: str


class _ConnectSessionEndUserInputRequired(TypedDict):
    #: The tenant's id of the end user.
    id: str


class ConnectSessionEndUserInput(_ConnectSessionEndUserInputRequired, total=False):
    """The end user of a connect session."""

    #: Their email address, if known. The hosted page shows it.
    email: str
    #: Their name, if known. The hosted page shows it.
    display_name: str
