# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.connect_session import ConnectSession, ConnectSessionEndUserInput

CREATE = Operation("POST", "/api/v2/connector/connect-sessions", body="*", keyed=True)
GET = Operation("GET", "/api/v2/connector/connect-sessions/{id}")
LIST = Operation("GET", "/api/v2/connector/connect-sessions", result="cursor")
REVOKE = Operation("POST", "/api/v2/connector/connect-sessions/{id}/revoke", body="*", keyed=True)
COMPLETE = Operation("POST", "/api/v2/connector/connect-sessions/{id}/complete", body="*", keyed=True)


class ConnectSessionService(Service):
    """Connect sessions: an end user connects an account at a provider on a hosted page."""

    def create(
        self,
        *,
        allowed_provider_keys: Sequence[str] | None = None,
        provider_config_id: str | None = None,
        environment_id: str | None = None,
        end_user: ConnectSessionEndUserInput,
        connection_id: str | None = None,
        scopes: Sequence[str] | None = None,
        allowed_origins: Sequence[str] | None = None,
        success_redirect_uri: str | None = None,
        error_redirect_uri: str | None = None,
        expires_in_s: int | None = None,
        require_completion: bool | None = None,
        connection_name: str | None = None,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Creates a connect session. Send the end user to its connect_url, in a popup or as a redirect.

        allowed_provider_keys: The providers that the end user can choose from. Optional with provider_config_id or connection_id.
        provider_config_id: The active provider config to use, for a session with one provider.
        environment_id: The id or the key of the environment; production when empty.
        end_user: The end user. Use the id under which your application knows them.
        connection_id: The connection to reconnect. The end user must grant access to the same account.
        scopes: The scopes to request instead of the default ones, in the provider's terms.
        allowed_origins: The origins whose pages may embed the hosted page and get a message about the result (for example: https://app.example.com). Without a wildcard, and https except for loopback hosts.
        success_redirect_uri: Where the end user is sent after success, with session_id and status in the query; with require_completion also completion_code.
        error_redirect_uri: Where the end user is sent after a failure, with session_id, status and error in the query.
        expires_in_s: How long the session is valid, in seconds; 30 minutes when 0.
        require_completion: Connects the account only after CompleteConnectSession. It needs success_redirect_uri. Always on with security_profile=enterprise.
        connection_name: The name of a new connection; the provider's name and the end user when empty.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Returns one connect session, without its token.

        id: The session's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: Literal["pending", "authorizing", "completed", "failed", "expired", "revoked"] | None = None,
        end_user_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConnectSession]:
        """
        Lists the connect sessions of the caller's tenant, oldest first. Ended sessions are deleted after 30 days.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only those in this status.
        end_user_id: Only those of this end user.
        """
        return self._call(LIST, locals())

    def revoke(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Revokes a connect session, so that its link stops working. A session that has ended stays unchanged.

        id: The session's id.
        """
        return self._call(REVOKE, locals())

    def complete(
        self,
        *,
        id: str,
        completion_code: str,
        end_user_id: str,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Confirms the end user of a session with require_completion, and connects the account. Call it only if the person who returned with the completion_code is signed in to your application as the end user of the session: otherwise somebody could be tricked into connecting their account for another person. A completed session stays unchanged.

        id: The session's id.
        completion_code: The code from the query of success_redirect_uri.
        end_user_id: The id of the person who is signed in to your application. It must be the end user of the session.
        """
        return self._call(COMPLETE, locals())


class AsyncConnectSessionService(AsyncService):
    """Connect sessions: an end user connects an account at a provider on a hosted page."""

    async def create(
        self,
        *,
        allowed_provider_keys: Sequence[str] | None = None,
        provider_config_id: str | None = None,
        environment_id: str | None = None,
        end_user: ConnectSessionEndUserInput,
        connection_id: str | None = None,
        scopes: Sequence[str] | None = None,
        allowed_origins: Sequence[str] | None = None,
        success_redirect_uri: str | None = None,
        error_redirect_uri: str | None = None,
        expires_in_s: int | None = None,
        require_completion: bool | None = None,
        connection_name: str | None = None,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Creates a connect session. Send the end user to its connect_url, in a popup or as a redirect.

        allowed_provider_keys: The providers that the end user can choose from. Optional with provider_config_id or connection_id.
        provider_config_id: The active provider config to use, for a session with one provider.
        environment_id: The id or the key of the environment; production when empty.
        end_user: The end user. Use the id under which your application knows them.
        connection_id: The connection to reconnect. The end user must grant access to the same account.
        scopes: The scopes to request instead of the default ones, in the provider's terms.
        allowed_origins: The origins whose pages may embed the hosted page and get a message about the result (for example: https://app.example.com). Without a wildcard, and https except for loopback hosts.
        success_redirect_uri: Where the end user is sent after success, with session_id and status in the query; with require_completion also completion_code.
        error_redirect_uri: Where the end user is sent after a failure, with session_id, status and error in the query.
        expires_in_s: How long the session is valid, in seconds; 30 minutes when 0.
        require_completion: Connects the account only after CompleteConnectSession. It needs success_redirect_uri. Always on with security_profile=enterprise.
        connection_name: The name of a new connection; the provider's name and the end user when empty.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Returns one connect session, without its token.

        id: The session's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: Literal["pending", "authorizing", "completed", "failed", "expired", "revoked"] | None = None,
        end_user_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConnectSession]:
        """
        Lists the connect sessions of the caller's tenant, oldest first. Ended sessions are deleted after 30 days.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only those in this status.
        end_user_id: Only those of this end user.
        """
        return self._list(LIST, locals())

    async def revoke(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Revokes a connect session, so that its link stops working. A session that has ended stays unchanged.

        id: The session's id.
        """
        return await self._call(REVOKE, locals())

    async def complete(
        self,
        *,
        id: str,
        completion_code: str,
        end_user_id: str,
        call: CallOptions | None = None,
    ) -> ConnectSession:
        """
        Confirms the end user of a session with require_completion, and connects the account. Call it only if the person who returned with the completion_code is signed in to your application as the end user of the session: otherwise somebody could be tricked into connecting their account for another person. A completed session stays unchanged.

        id: The session's id.
        completion_code: The code from the query of success_redirect_uri.
        end_user_id: The id of the person who is signed in to your application. It must be the end user of the session.
        """
        return await self._call(COMPLETE, locals())
