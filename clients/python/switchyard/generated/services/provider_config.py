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
    from ..types.provider_config import ProviderConfig, ProviderConfigScopes, ProviderConfigSettings, ProviderConfigVersion

CREATE = Operation("POST", "/api/v2/connector/provider-configs", body="*", keyed=True)
GET = Operation("GET", "/api/v2/connector/provider-configs/{id}")
LIST = Operation("GET", "/api/v2/connector/provider-configs", result="cursor")
UPDATE = Operation("PATCH", "/api/v2/connector/provider-configs/{id}", body="*", keyed=True)
ACTIVATE = Operation("POST", "/api/v2/connector/provider-configs/{id}:activate", body="*", keyed=True)
DISABLE = Operation("POST", "/api/v2/connector/provider-configs/{id}:disable", body="*", keyed=True)
ARCHIVE = Operation("POST", "/api/v2/connector/provider-configs/{id}:archive", body="*", keyed=True)
CREATE_VERSION = Operation("POST", "/api/v2/connector/provider-configs/{id}/versions", body="*", keyed=True)
GET_VERSION = Operation("GET", "/api/v2/connector/provider-configs/{id}/versions/{version}")
LIST_VERSIONS = Operation("GET", "/api/v2/connector/provider-configs/{id}/versions", result="cursor")


class ProviderConfigService(Service):
    """Provider configs: a tenant's own OAuth app or other settings for a provider. Secrets are never returned."""

    def create(
        self,
        *,
        provider_key: str,
        name: str,
        environment_id: str | None = None,
        client_id: str | None = None,
        secrets: Mapping[str, str] | None = None,
        scopes: Sequence[str] | None = None,
        settings: Mapping[str, str] | None = None,
        manifest_version: str | None = None,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Creates a provider config as a draft.

        provider_key: The provider.
        name: The name.
        environment_id: The id or the key of the environment; production when empty.
        client_id: The id of the OAuth app.
        secrets: Secrets of the app: client_secret, private_key (PEM, for providers that authenticate clients with it) or others that the provider names. Write-only.
        scopes: Scopes to request besides the provider's default ones.
        settings: Values that are not secret, for the provider's templates.
        manifest_version: The version of the provider's manifest whose actions the connections execute; the newest one if empty.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Returns one provider config, without its secrets.

        id: The provider config's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        provider_key: str | None = None,
        status: Literal["draft", "active", "disabled", "archived"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ProviderConfig]:
        """
        Lists the provider configs of the caller's tenant, archived ones included, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        provider_key: Only those of this provider.
        status: Only those in this status.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        id: str,
        name: str | None = None,
        client_id: str | None = None,
        secrets: Mapping[str, str] | None = None,
        scope_set: ProviderConfigScopes | None = None,
        setting_set: ProviderConfigSettings | None = None,
        record_version: int | None = None,
        manifest_version: str | None = None,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Changes the fields that are present. An archived config cannot be changed, and the client id only in a draft.

        id: The provider config's id.
        name: The name.
        client_id: The id of the OAuth app; only while the config is a draft, because grants belong to one app.
        secrets: Secrets to set, by name; the others stay. An empty value removes a secret. Write-only.
        scope_set: Replaces the scopes.
        setting_set: Replaces the settings.
        record_version: The expected version of the record; unconditional when absent.
        manifest_version: The version of the provider's manifest whose actions the connections execute; the newest one if empty.
        """
        return self._call(UPDATE, locals())

    def activate(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Activates a config: connect sessions can use it. An active config stays unchanged.

        id: The provider config's id.
        """
        return self._call(ACTIVATE, locals())

    def disable(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Disables a config: no connect session can use it. Its connections still work and are refreshed.

        id: The provider config's id.
        """
        return self._call(DISABLE, locals())

    def archive(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Archives a draft or disabled config permanently and deletes its secrets. It must have no connections that are not revoked.

        id: The provider config's id.
        """
        return self._call(ARCHIVE, locals())

    def create_version(
        self,
        *,
        id: str,
        scope_set: ProviderConfigScopes | None = None,
        setting_set: ProviderConfigSettings | None = None,
        message: str | None = None,
        manifest_version: str | None = None,
        call: CallOptions | None = None,
    ) -> ProviderConfigVersion:
        """
        Stages a version without activating it: scopes, settings and the version of the actions. A promotion activates it.

        id: The provider config's id.
        scope_set: All scopes; those of the provider config when absent.
        setting_set: All settings; those of the provider config when absent.
        message: What is new, for people.
        manifest_version: The version of the provider's manifest whose actions the connections execute, empty for the newest one; that of the provider config when absent.
        """
        return self._call(CREATE_VERSION, locals())

    def get_version(
        self,
        *,
        id: str,
        version: int,
        call: CallOptions | None = None,
    ) -> ProviderConfigVersion:
        """
        Returns one version with its content.

        id: The provider config's id.
        version: The number of the version.
        """
        return self._call(GET_VERSION, locals())

    def list_versions(
        self,
        *,
        id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ProviderConfigVersion]:
        """
        Lists the versions of a provider config, newest first. Every change of the client id, the scopes, the settings or the manifest version is a version. Secrets are in no version.

        id: The provider config's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_VERSIONS, locals())


class AsyncProviderConfigService(AsyncService):
    """Provider configs: a tenant's own OAuth app or other settings for a provider. Secrets are never returned."""

    async def create(
        self,
        *,
        provider_key: str,
        name: str,
        environment_id: str | None = None,
        client_id: str | None = None,
        secrets: Mapping[str, str] | None = None,
        scopes: Sequence[str] | None = None,
        settings: Mapping[str, str] | None = None,
        manifest_version: str | None = None,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Creates a provider config as a draft.

        provider_key: The provider.
        name: The name.
        environment_id: The id or the key of the environment; production when empty.
        client_id: The id of the OAuth app.
        secrets: Secrets of the app: client_secret, private_key (PEM, for providers that authenticate clients with it) or others that the provider names. Write-only.
        scopes: Scopes to request besides the provider's default ones.
        settings: Values that are not secret, for the provider's templates.
        manifest_version: The version of the provider's manifest whose actions the connections execute; the newest one if empty.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Returns one provider config, without its secrets.

        id: The provider config's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        provider_key: str | None = None,
        status: Literal["draft", "active", "disabled", "archived"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ProviderConfig]:
        """
        Lists the provider configs of the caller's tenant, archived ones included, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        provider_key: Only those of this provider.
        status: Only those in this status.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        id: str,
        name: str | None = None,
        client_id: str | None = None,
        secrets: Mapping[str, str] | None = None,
        scope_set: ProviderConfigScopes | None = None,
        setting_set: ProviderConfigSettings | None = None,
        record_version: int | None = None,
        manifest_version: str | None = None,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Changes the fields that are present. An archived config cannot be changed, and the client id only in a draft.

        id: The provider config's id.
        name: The name.
        client_id: The id of the OAuth app; only while the config is a draft, because grants belong to one app.
        secrets: Secrets to set, by name; the others stay. An empty value removes a secret. Write-only.
        scope_set: Replaces the scopes.
        setting_set: Replaces the settings.
        record_version: The expected version of the record; unconditional when absent.
        manifest_version: The version of the provider's manifest whose actions the connections execute; the newest one if empty.
        """
        return await self._call(UPDATE, locals())

    async def activate(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Activates a config: connect sessions can use it. An active config stays unchanged.

        id: The provider config's id.
        """
        return await self._call(ACTIVATE, locals())

    async def disable(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Disables a config: no connect session can use it. Its connections still work and are refreshed.

        id: The provider config's id.
        """
        return await self._call(DISABLE, locals())

    async def archive(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ProviderConfig:
        """
        Archives a draft or disabled config permanently and deletes its secrets. It must have no connections that are not revoked.

        id: The provider config's id.
        """
        return await self._call(ARCHIVE, locals())

    async def create_version(
        self,
        *,
        id: str,
        scope_set: ProviderConfigScopes | None = None,
        setting_set: ProviderConfigSettings | None = None,
        message: str | None = None,
        manifest_version: str | None = None,
        call: CallOptions | None = None,
    ) -> ProviderConfigVersion:
        """
        Stages a version without activating it: scopes, settings and the version of the actions. A promotion activates it.

        id: The provider config's id.
        scope_set: All scopes; those of the provider config when absent.
        setting_set: All settings; those of the provider config when absent.
        message: What is new, for people.
        manifest_version: The version of the provider's manifest whose actions the connections execute, empty for the newest one; that of the provider config when absent.
        """
        return await self._call(CREATE_VERSION, locals())

    async def get_version(
        self,
        *,
        id: str,
        version: int,
        call: CallOptions | None = None,
    ) -> ProviderConfigVersion:
        """
        Returns one version with its content.

        id: The provider config's id.
        version: The number of the version.
        """
        return await self._call(GET_VERSION, locals())

    def list_versions(
        self,
        *,
        id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ProviderConfigVersion]:
        """
        Lists the versions of a provider config, newest first. Every change of the client id, the scopes, the settings or the manifest version is a version. Secrets are in no version.

        id: The provider config's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_VERSIONS, locals())
