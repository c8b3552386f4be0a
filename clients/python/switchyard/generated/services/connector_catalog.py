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
    from ..types.connector_catalog import ConnectorAction, ConnectorManifest, ConnectorProvider, ConnectorRecordedAnswer, ConnectorTrigger, DeleteManifestResponse, TryManifestResponse, ValidateManifestResponse

LIST_PROVIDERS = Operation("GET", "/api/v2/connector/providers", result="cursor")
GET_PROVIDER = Operation("GET", "/api/v2/connector/providers/{key}")
LIST_ACTIONS = Operation("GET", "/api/v2/connector/actions", result="cursor")
GET_ACTION = Operation("GET", "/api/v2/connector/actions/{key}")
LIST_TRIGGERS = Operation("GET", "/api/v2/connector/triggers", result="cursor")
GET_TRIGGER = Operation("GET", "/api/v2/connector/triggers/{key}")


class ConnectorCatalogService(Service):
    """The connector catalogue: providers with their actions and triggers. It has the built-in providers, the tenant's own manifests, and the manifests of installed packs."""

    def list_providers(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        query: str | None = None,
        category: Literal["crm", "communication", "developer_tools", "productivity", "payments", "accounting", "support", "marketing", "storage", "analytics", "incident", "ai", "commerce", "calendar", "email", "data", "generic"] | None = None,
        auth_mode: Literal["oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        runtime_status: Literal["executable", "catalog_only", "deprecated", "unconfigured", "disabled"] | None = None,
        source: Literal["builtin", "tenant", "pack"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConnectorProvider]:
        """
        Lists providers.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        query: Words that the key, title or description contains; best matches first. By default all, ordered by key.
        category: Only those of this category.
        auth_mode: Only those of providers with this authentication mode.
        runtime_status: Only those in this runtime status.
        source: Only those from this source.
        """
        return self._call(LIST_PROVIDERS, locals())

    def get_provider(
        self,
        *,
        key: str,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> ConnectorProvider:
        """
        Returns one provider.

        key: The provider's key.
        version: The version of the manifest; the newest by default.
        """
        return self._call(GET_PROVIDER, locals())

    def list_actions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        query: str | None = None,
        category: Literal["crm", "communication", "developer_tools", "productivity", "payments", "accounting", "support", "marketing", "storage", "analytics", "incident", "ai", "commerce", "calendar", "email", "data", "generic"] | None = None,
        provider_key: str | None = None,
        effect: Literal["read", "search", "create", "update", "delete", "send"] | None = None,
        runtime_status: Literal["executable", "catalog_only", "deprecated", "unconfigured", "disabled"] | None = None,
        auth_mode: Literal["oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConnectorAction]:
        """
        Lists actions.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        query: Words that the key, title or description contains; best matches first. By default all, ordered by key.
        category: Only those of this category.
        provider_key: Only those of this provider.
        effect: Only those with this effect.
        runtime_status: Only those in this runtime status.
        auth_mode: Only those of providers with this authentication mode.
        """
        return self._call(LIST_ACTIONS, locals())

    def get_action(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConnectorAction:
        """
        Returns one action. Only an action with the runtime status `executable` can be executed.

        key: The global key, for example github.issue.create.
        """
        return self._call(GET_ACTION, locals())

    def list_triggers(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        query: str | None = None,
        category: Literal["crm", "communication", "developer_tools", "productivity", "payments", "accounting", "support", "marketing", "storage", "analytics", "incident", "ai", "commerce", "calendar", "email", "data", "generic"] | None = None,
        provider_key: str | None = None,
        kind: Literal["webhook", "poll"] | None = None,
        runtime_status: Literal["executable", "catalog_only", "deprecated", "unconfigured", "disabled"] | None = None,
        auth_mode: Literal["oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConnectorTrigger]:
        """
        Lists triggers.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        query: Words that the key, title or description contains; best matches first. By default all, ordered by key.
        category: Only those of this category.
        provider_key: Only those of this provider.
        kind: Only those of this kind.
        runtime_status: Only those in this runtime status.
        auth_mode: Only those of providers with this authentication mode.
        """
        return self._call(LIST_TRIGGERS, locals())

    def get_trigger(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConnectorTrigger:
        """
        Returns one trigger.

        key: The global key, for example github.issue.changed.
        """
        return self._call(GET_TRIGGER, locals())


class AsyncConnectorCatalogService(AsyncService):
    """The connector catalogue: providers with their actions and triggers. It has the built-in providers, the tenant's own manifests, and the manifests of installed packs."""

    def list_providers(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        query: str | None = None,
        category: Literal["crm", "communication", "developer_tools", "productivity", "payments", "accounting", "support", "marketing", "storage", "analytics", "incident", "ai", "commerce", "calendar", "email", "data", "generic"] | None = None,
        auth_mode: Literal["oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        runtime_status: Literal["executable", "catalog_only", "deprecated", "unconfigured", "disabled"] | None = None,
        source: Literal["builtin", "tenant", "pack"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConnectorProvider]:
        """
        Lists providers.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        query: Words that the key, title or description contains; best matches first. By default all, ordered by key.
        category: Only those of this category.
        auth_mode: Only those of providers with this authentication mode.
        runtime_status: Only those in this runtime status.
        source: Only those from this source.
        """
        return self._list(LIST_PROVIDERS, locals())

    async def get_provider(
        self,
        *,
        key: str,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> ConnectorProvider:
        """
        Returns one provider.

        key: The provider's key.
        version: The version of the manifest; the newest by default.
        """
        return await self._call(GET_PROVIDER, locals())

    def list_actions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        query: str | None = None,
        category: Literal["crm", "communication", "developer_tools", "productivity", "payments", "accounting", "support", "marketing", "storage", "analytics", "incident", "ai", "commerce", "calendar", "email", "data", "generic"] | None = None,
        provider_key: str | None = None,
        effect: Literal["read", "search", "create", "update", "delete", "send"] | None = None,
        runtime_status: Literal["executable", "catalog_only", "deprecated", "unconfigured", "disabled"] | None = None,
        auth_mode: Literal["oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConnectorAction]:
        """
        Lists actions.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        query: Words that the key, title or description contains; best matches first. By default all, ordered by key.
        category: Only those of this category.
        provider_key: Only those of this provider.
        effect: Only those with this effect.
        runtime_status: Only those in this runtime status.
        auth_mode: Only those of providers with this authentication mode.
        """
        return self._list(LIST_ACTIONS, locals())

    async def get_action(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConnectorAction:
        """
        Returns one action. Only an action with the runtime status `executable` can be executed.

        key: The global key, for example github.issue.create.
        """
        return await self._call(GET_ACTION, locals())

    def list_triggers(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        query: str | None = None,
        category: Literal["crm", "communication", "developer_tools", "productivity", "payments", "accounting", "support", "marketing", "storage", "analytics", "incident", "ai", "commerce", "calendar", "email", "data", "generic"] | None = None,
        provider_key: str | None = None,
        kind: Literal["webhook", "poll"] | None = None,
        runtime_status: Literal["executable", "catalog_only", "deprecated", "unconfigured", "disabled"] | None = None,
        auth_mode: Literal["oauth2", "oauth2_cc", "api_key", "basic", "two_step", "jwt", "signed_jwt", "aws_sigv4", "none"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConnectorTrigger]:
        """
        Lists triggers.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        query: Words that the key, title or description contains; best matches first. By default all, ordered by key.
        category: Only those of this category.
        provider_key: Only those of this provider.
        kind: Only those of this kind.
        runtime_status: Only those in this runtime status.
        auth_mode: Only those of providers with this authentication mode.
        """
        return self._list(LIST_TRIGGERS, locals())

    async def get_trigger(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> ConnectorTrigger:
        """
        Returns one trigger.

        key: The global key, for example github.issue.changed.
        """
        return await self._call(GET_TRIGGER, locals())

CREATE = Operation("POST", "/api/v2/connector/manifests", body="*", keyed=True)
GET = Operation("GET", "/api/v2/connector/manifests/{id}")
LIST = Operation("GET", "/api/v2/connector/manifests", result="cursor")
DELETE = Operation("DELETE", "/api/v2/connector/manifests/{id}", keyed=True)
VALIDATE = Operation("POST", "/api/v2/connector/manifests:validate", body="*")
TRY = Operation("POST", "/api/v2/connector/manifests:try", body="*")
GET_SCHEMA = Operation("GET", "/api/v2/connector/manifests:schema", result="raw")


class ConnectorManifestService(Service):
    """Connector manifests: a tenant's own providers, as documents of the manifest language. Versions never change."""

    def create(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ConnectorManifest:
        """
        Creates a version of a manifest. A version that exists with the same content is returned unchanged.

        document: The manifest, of at most 256 KiB. Absent if there is a text.
        text: The manifest as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ConnectorManifest:
        """
        Returns one version with its document.

        id: The id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        key: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConnectorManifest]:
        """
        Lists the versions of the tenant's manifests, without their documents, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        key: Only the versions of this provider.
        """
        return self._call(LIST, locals())

    def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> DeleteManifestResponse:
        """
        Deletes a version. The only version of a provider with connections, and the versions of a pack, cannot be deleted.

        id: The id.
        """
        return self._call(DELETE, locals())

    def validate(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ValidateManifestResponse:
        """
        Checks a manifest without storing it.

        document: The manifest. Absent if there is a text.
        text: The manifest as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        """
        return self._call(VALIDATE, locals())

    def try_(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        action: str,
        input: Mapping[str, Any] | None = None,
        auth_mode: str | None = None,
        settings: Mapping[str, Any] | None = None,
        credentials: Mapping[str, str] | None = None,
        captured: Mapping[str, Any] | None = None,
        answers: Sequence[ConnectorRecordedAnswer] | None = None,
        call: CallOptions | None = None,
    ) -> TryManifestResponse:
        """
        Tries an action of a manifest against recorded answers, without storing or sending anything: renders the requests, and reads the answers as an execution would.

        document: The manifest. Absent if there is a text.
        text: The manifest as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        action: The name of the action in the manifest, for example issue.create.
        input: The input, as the action's schema describes it.
        auth_mode: The authentication mode; the first of the manifest when empty.
        settings: Settings of the account. Missing ones are filled with their defaults and examples.
        credentials: Credentials of the account. Use no real ones: the rendered requests have them. Missing ones are filled with their names.
        captured: Values that were captured when the account was connected.
        answers: The answers of the provider, in their order: one, or one for each page.
        """
        return self._call(TRY, locals())

    def get_schema(
        self,
        *,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """Returns the JSON Schema of the manifest language, for editors and other tools."""
        return self._call(GET_SCHEMA, locals())


class AsyncConnectorManifestService(AsyncService):
    """Connector manifests: a tenant's own providers, as documents of the manifest language. Versions never change."""

    async def create(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ConnectorManifest:
        """
        Creates a version of a manifest. A version that exists with the same content is returned unchanged.

        document: The manifest, of at most 256 KiB. Absent if there is a text.
        text: The manifest as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ConnectorManifest:
        """
        Returns one version with its document.

        id: The id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        key: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConnectorManifest]:
        """
        Lists the versions of the tenant's manifests, without their documents, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        key: Only the versions of this provider.
        """
        return self._list(LIST, locals())

    async def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> DeleteManifestResponse:
        """
        Deletes a version. The only version of a provider with connections, and the versions of a pack, cannot be deleted.

        id: The id.
        """
        return await self._call(DELETE, locals())

    async def validate(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ValidateManifestResponse:
        """
        Checks a manifest without storing it.

        document: The manifest. Absent if there is a text.
        text: The manifest as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        """
        return await self._call(VALIDATE, locals())

    async def try_(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        action: str,
        input: Mapping[str, Any] | None = None,
        auth_mode: str | None = None,
        settings: Mapping[str, Any] | None = None,
        credentials: Mapping[str, str] | None = None,
        captured: Mapping[str, Any] | None = None,
        answers: Sequence[ConnectorRecordedAnswer] | None = None,
        call: CallOptions | None = None,
    ) -> TryManifestResponse:
        """
        Tries an action of a manifest against recorded answers, without storing or sending anything: renders the requests, and reads the answers as an execution would.

        document: The manifest. Absent if there is a text.
        text: The manifest as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        action: The name of the action in the manifest, for example issue.create.
        input: The input, as the action's schema describes it.
        auth_mode: The authentication mode; the first of the manifest when empty.
        settings: Settings of the account. Missing ones are filled with their defaults and examples.
        credentials: Credentials of the account. Use no real ones: the rendered requests have them. Missing ones are filled with their names.
        captured: Values that were captured when the account was connected.
        answers: The answers of the provider, in their order: one, or one for each page.
        """
        return await self._call(TRY, locals())

    async def get_schema(
        self,
        *,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """Returns the JSON Schema of the manifest language, for editors and other tools."""
        return await self._call(GET_SCHEMA, locals())
