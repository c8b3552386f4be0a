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
    from ..types.connection import Connection, ConnectionEndUserInput, TestConnectionResponse

CREATE = Operation("POST", "/api/v2/connector/connections", body="*", keyed=True)
GET = Operation("GET", "/api/v2/connector/connections/{id}")
LIST = Operation("GET", "/api/v2/connector/connections", result="cursor")
UPDATE = Operation("PATCH", "/api/v2/connector/connections/{id}", body="*", keyed=True)
REVOKE = Operation("POST", "/api/v2/connector/connections/{id}/revoke", body="*", keyed=True)
TEST = Operation("POST", "/api/v2/connector/connections/{id}/test", body="*", keyed=True)
REFRESH = Operation("POST", "/api/v2/connector/connections/{id}/refresh", body="*", keyed=True)


class ConnectionService(Service):
    """Connections: settings and credentials to act for a tenant at a provider. Credentials are never returned."""

    def create(
        self,
        *,
        name: str,
        provider_key: str,
        end_user: ConnectionEndUserInput | None = None,
        scopes: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        credentials: Mapping[str, str] | None = None,
        expires_at: str | datetime | None = None,
        auth_mode: Literal["", "oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        provider_config_id: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Creates a connection. The provider defines the settings and credentials.

        name: The name.
        provider_key: The provider.
        end_user: The end user for whom it acts, if any.
        scopes: What it may do, in the provider's terms.
        settings: Settings that are not secret, such as a host name. The provider defines them. At most 16 KiB as JSON.
        credentials: Credentials, such as a password. The provider defines them. Write-only, at most 64 KiB in total.
        expires_at: When it expires; never when absent.
        auth_mode: How requests are authenticated; the provider's default mode when empty. With oauth2, the credentials are an existing grant: access_token, refresh_token or both.
        provider_config_id: The provider config whose OAuth app obtained the grant; required for a refresh with oauth2.
        environment_id: The id or the key of the environment; production when empty. A provider config must belong to it.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Returns one connection, without its credentials.

        id: The connection's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        provider_key: str | None = None,
        status: Literal["active", "needs_account", "needs_reauth", "revoked"] | None = None,
        end_user_id: str | None = None,
        provider_config_id: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Connection]:
        """
        Lists the connections of the caller's tenant, revoked ones included, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        provider_key: Only those of this provider.
        status: Only those in this status.
        end_user_id: Only those of this end user.
        provider_config_id: Only those of this provider config.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        id: str,
        name: str | None = None,
        end_user: ConnectionEndUserInput | None = None,
        credentials: Mapping[str, str] | None = None,
        expires_at: str | datetime | None = None,
        record_version: int | None = None,
        settings: Mapping[str, Any] | None = None,
        account_id: str | None = None,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Changes the fields that are present. New settings and credentials take the place of the current ones, which stay in use until the provider has accepted the new ones; they must belong to the same account. A grant of OAuth is replaced by a connect session that reconnects the connection. With account_id, a connection that needs an account gets one.

        id: The connection's id.
        name: The name.
        end_user: Replaces the end user for whom it acts.
        credentials: Replaces all credentials, for example with a new API key. Write-only, at most 64 KiB in total.
        expires_at: When the new credentials expire; never when absent.
        record_version: The expected version of the record; unconditional when absent.
        settings: Replaces all settings, for example with another sender. They are tested together with the credentials. At most 16 KiB as JSON.
        account_id: Chooses one of account_choices by its id, so that the connection acts for it from now on. It cannot be changed later.
        """
        return self._call(UPDATE, locals())

    def revoke(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Revokes a connection permanently. The grant is revoked at the provider if it offers that, then the credentials are deleted. A revoked connection stays unchanged.

        id: The connection's id.
        """
        return self._call(REVOKE, locals())

    def test(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> TestConnectionResponse:
        """
        Checks a connection at its provider: expired credentials are refreshed, then the account is requested. Reports what failed, and records the result. An account that was not known yet is stored.

        id: The connection's id.
        """
        return self._call(TEST, locals())

    def refresh(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Refreshes the credentials of a connection now, whether they have expired or not. Concurrent refreshes of a connection share one request to the provider.

        id: The connection's id.
        """
        return self._call(REFRESH, locals())


class AsyncConnectionService(AsyncService):
    """Connections: settings and credentials to act for a tenant at a provider. Credentials are never returned."""

    async def create(
        self,
        *,
        name: str,
        provider_key: str,
        end_user: ConnectionEndUserInput | None = None,
        scopes: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        credentials: Mapping[str, str] | None = None,
        expires_at: str | datetime | None = None,
        auth_mode: Literal["", "oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        provider_config_id: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Creates a connection. The provider defines the settings and credentials.

        name: The name.
        provider_key: The provider.
        end_user: The end user for whom it acts, if any.
        scopes: What it may do, in the provider's terms.
        settings: Settings that are not secret, such as a host name. The provider defines them. At most 16 KiB as JSON.
        credentials: Credentials, such as a password. The provider defines them. Write-only, at most 64 KiB in total.
        expires_at: When it expires; never when absent.
        auth_mode: How requests are authenticated; the provider's default mode when empty. With oauth2, the credentials are an existing grant: access_token, refresh_token or both.
        provider_config_id: The provider config whose OAuth app obtained the grant; required for a refresh with oauth2.
        environment_id: The id or the key of the environment; production when empty. A provider config must belong to it.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Returns one connection, without its credentials.

        id: The connection's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        provider_key: str | None = None,
        status: Literal["active", "needs_account", "needs_reauth", "revoked"] | None = None,
        end_user_id: str | None = None,
        provider_config_id: str | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Connection]:
        """
        Lists the connections of the caller's tenant, revoked ones included, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        provider_key: Only those of this provider.
        status: Only those in this status.
        end_user_id: Only those of this end user.
        provider_config_id: Only those of this provider config.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        id: str,
        name: str | None = None,
        end_user: ConnectionEndUserInput | None = None,
        credentials: Mapping[str, str] | None = None,
        expires_at: str | datetime | None = None,
        record_version: int | None = None,
        settings: Mapping[str, Any] | None = None,
        account_id: str | None = None,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Changes the fields that are present. New settings and credentials take the place of the current ones, which stay in use until the provider has accepted the new ones; they must belong to the same account. A grant of OAuth is replaced by a connect session that reconnects the connection. With account_id, a connection that needs an account gets one.

        id: The connection's id.
        name: The name.
        end_user: Replaces the end user for whom it acts.
        credentials: Replaces all credentials, for example with a new API key. Write-only, at most 64 KiB in total.
        expires_at: When the new credentials expire; never when absent.
        record_version: The expected version of the record; unconditional when absent.
        settings: Replaces all settings, for example with another sender. They are tested together with the credentials. At most 16 KiB as JSON.
        account_id: Chooses one of account_choices by its id, so that the connection acts for it from now on. It cannot be changed later.
        """
        return await self._call(UPDATE, locals())

    async def revoke(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Revokes a connection permanently. The grant is revoked at the provider if it offers that, then the credentials are deleted. A revoked connection stays unchanged.

        id: The connection's id.
        """
        return await self._call(REVOKE, locals())

    async def test(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> TestConnectionResponse:
        """
        Checks a connection at its provider: expired credentials are refreshed, then the account is requested. Reports what failed, and records the result. An account that was not known yet is stored.

        id: The connection's id.
        """
        return await self._call(TEST, locals())

    async def refresh(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Connection:
        """
        Refreshes the credentials of a connection now, whether they have expired or not. Concurrent refreshes of a connection share one request to the provider.

        id: The connection's id.
        """
        return await self._call(REFRESH, locals())
