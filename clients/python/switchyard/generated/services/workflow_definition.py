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
    from ..types.workflow_definition import DiffWorkflowDefinitionResponse, ImportWorkflowDefinitionResponse, PublishWorkflowDefinitionResponse, ValidateWorkflowDefinitionResponse, WorkflowDefinition, WorkflowDefinitionStatus, WorkflowDefinitionVersion

CREATE = Operation("POST", "/api/workflow-definitions", body="*", keyed=True)
GET = Operation("GET", "/api/workflow-definitions/{id}")
LIST = Operation("GET", "/api/workflow-definitions", result="cursor")
UPDATE_DRAFT = Operation("PATCH", "/api/workflow-definitions/{id}/draft", body="*", keyed=True)
PUBLISH = Operation("POST", "/api/workflow-definitions/{id}/publish", body="*", keyed=True)
DUPLICATE = Operation("POST", "/api/workflow-definitions/{id}/duplicate", body="*", keyed=True)
ARCHIVE = Operation("POST", "/api/workflow-definitions/{id}/archive", body="*", keyed=True)
VALIDATE = Operation("POST", "/api/workflow-definitions:validate", body="*")
IMPORT = Operation("POST", "/api/workflow-definitions:import", body="*", keyed=True)
EXPORT = Operation("GET", "/api/workflow-definitions/{id}/export", result="raw")
LIST_VERSIONS = Operation("GET", "/api/workflow-definitions/{id}/versions", result="cursor")
GET_VERSION = Operation("GET", "/api/workflow-definitions/{id}/versions/{version}")
DIFF = Operation("GET", "/api/workflow-definitions/{id}/diff")
GET_SCHEMA = Operation("GET", "/api/workflow-definitions:schema", result="raw")


class WorkflowDefinitionService(Service):
    """Workflow definitions: documents of the workflow language, edited as drafts and published as immutable versions."""

    def create(
        self,
        *,
        document: Mapping[str, Any],
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Creates a definition with a draft. The key is the document's. A draft may be unfinished: it is checked when it is published.

        document: The draft, a document of the workflow language of at most 256 KiB.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Returns one definition with its draft.

        id: The id or the key of the definition.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        status: WorkflowDefinitionStatus | None = None,
        key_prefix: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowDefinition]:
        """
        Lists the definitions of the caller's tenant, without their documents.

        status: Only those in this state; by default all that are not archived.
        key_prefix: Only those whose key starts with this text.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def update_draft(
        self,
        *,
        id: str,
        document: Mapping[str, Any],
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Replaces the draft of a definition. The key of a definition never changes.

        id: The id or the key of the definition.
        document: The new draft, with the key of the definition.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE_DRAFT, locals())

    def publish(
        self,
        *,
        id: str,
        message: str | None = None,
        record_version: int | None = None,
        stage: bool | None = None,
        call: CallOptions | None = None,
    ) -> PublishWorkflowDefinitionResponse:
        """
        Checks the draft and publishes it as the next version. New runs use it; runs in progress keep their version. A draft that equals the active version is not published again: the active version is returned.

        id: The id or the key of the definition.
        message: What is new, for people.
        record_version: Publishes only if the definition, and so its draft, has this version.
        stage: Stores the version without activating it. A promotion activates it.
        """
        return self._call(PUBLISH, locals())

    def duplicate(
        self,
        *,
        id: str,
        key: str | None = None,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Creates a definition with a copy of a draft or of a version.

        id: The id or the key of the definition.
        key: The key of the copy; by default the original's with `-copy`.
        version: What to copy: a version number, `active` or `draft` (default).
        """
        return self._call(DUPLICATE, locals())

    def archive(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Archives a definition: there are no new runs, and runs in progress finish. Its key can be used again. An archived definition can be duplicated, but not changed. Refused while the active version of another definition runs it.

        id: The id or the key of the definition.
        """
        return self._call(ARCHIVE, locals())

    def validate(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ValidateWorkflowDefinitionResponse:
        """
        Checks a document like publishing does, without storing it.

        document: The document. Absent if there is a text.
        text: The document as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        """
        return self._call(VALIDATE, locals())

    def import_(
        self,
        *,
        text: str,
        format: Literal["", "yaml", "json"] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> ImportWorkflowDefinitionResponse:
        """
        Creates or updates the draft of the definition whose key a YAML or JSON text names.

        text: The document as YAML or JSON.
        format: yaml (default) or json.
        record_version: Makes the update of an existing definition conditional on this version.
        """
        return self._call(IMPORT, locals())

    def export(
        self,
        *,
        id: str,
        format: Literal["", "yaml", "json"] | None = None,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """
        Returns a definition's draft or one of its versions as a YAML or JSON text. A draft that was imported as a text comes back as YAML as it was written, with its comments and its order.

        id: The id or the key of the definition.
        format: yaml (default) or json.
        version: A version number, `active` or `draft` (default).
        """
        return self._call(EXPORT, locals())

    def list_versions(
        self,
        *,
        id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WorkflowDefinitionVersion]:
        """
        Lists the published versions of a definition, newest first, without their documents.

        id: The id or the key of the definition.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_VERSIONS, locals())

    def get_version(
        self,
        *,
        id: str,
        version: str,
        call: CallOptions | None = None,
    ) -> WorkflowDefinitionVersion:
        """
        Returns one published version with its document. Versions never change.

        id: The id or the key of the definition.
        version: The number of the version, or `active`.
        """
        return self._call(GET_VERSION, locals())

    def diff(
        self,
        *,
        id: str,
        from_: str | None = None,
        to: str | None = None,
        call: CallOptions | None = None,
    ) -> DiffWorkflowDefinitionResponse:
        """
        Compares two versions of a definition, or a version with the draft. Steps are matched by their ids.

        id: The id or the key of the definition.
        from_: A version number, `draft` or `active` (default).
        to: A version number, `active` or `draft` (default).
        """
        return self._call(DIFF, locals())

    def get_schema(
        self,
        *,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """Returns the JSON Schema of the workflow language, for editors and other tools."""
        return self._call(GET_SCHEMA, locals())


class AsyncWorkflowDefinitionService(AsyncService):
    """Workflow definitions: documents of the workflow language, edited as drafts and published as immutable versions."""

    async def create(
        self,
        *,
        document: Mapping[str, Any],
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Creates a definition with a draft. The key is the document's. A draft may be unfinished: it is checked when it is published.

        document: The draft, a document of the workflow language of at most 256 KiB.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Returns one definition with its draft.

        id: The id or the key of the definition.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        status: WorkflowDefinitionStatus | None = None,
        key_prefix: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowDefinition]:
        """
        Lists the definitions of the caller's tenant, without their documents.

        status: Only those in this state; by default all that are not archived.
        key_prefix: Only those whose key starts with this text.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def update_draft(
        self,
        *,
        id: str,
        document: Mapping[str, Any],
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Replaces the draft of a definition. The key of a definition never changes.

        id: The id or the key of the definition.
        document: The new draft, with the key of the definition.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE_DRAFT, locals())

    async def publish(
        self,
        *,
        id: str,
        message: str | None = None,
        record_version: int | None = None,
        stage: bool | None = None,
        call: CallOptions | None = None,
    ) -> PublishWorkflowDefinitionResponse:
        """
        Checks the draft and publishes it as the next version. New runs use it; runs in progress keep their version. A draft that equals the active version is not published again: the active version is returned.

        id: The id or the key of the definition.
        message: What is new, for people.
        record_version: Publishes only if the definition, and so its draft, has this version.
        stage: Stores the version without activating it. A promotion activates it.
        """
        return await self._call(PUBLISH, locals())

    async def duplicate(
        self,
        *,
        id: str,
        key: str | None = None,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Creates a definition with a copy of a draft or of a version.

        id: The id or the key of the definition.
        key: The key of the copy; by default the original's with `-copy`.
        version: What to copy: a version number, `active` or `draft` (default).
        """
        return await self._call(DUPLICATE, locals())

    async def archive(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> WorkflowDefinition:
        """
        Archives a definition: there are no new runs, and runs in progress finish. Its key can be used again. An archived definition can be duplicated, but not changed. Refused while the active version of another definition runs it.

        id: The id or the key of the definition.
        """
        return await self._call(ARCHIVE, locals())

    async def validate(
        self,
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
        format: Literal["", "yaml", "json"] | None = None,
        call: CallOptions | None = None,
    ) -> ValidateWorkflowDefinitionResponse:
        """
        Checks a document like publishing does, without storing it.

        document: The document. Absent if there is a text.
        text: The document as a YAML or JSON text.
        format: The format of the text: yaml (default) or json.
        """
        return await self._call(VALIDATE, locals())

    async def import_(
        self,
        *,
        text: str,
        format: Literal["", "yaml", "json"] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> ImportWorkflowDefinitionResponse:
        """
        Creates or updates the draft of the definition whose key a YAML or JSON text names.

        text: The document as YAML or JSON.
        format: yaml (default) or json.
        record_version: Makes the update of an existing definition conditional on this version.
        """
        return await self._call(IMPORT, locals())

    async def export(
        self,
        *,
        id: str,
        format: Literal["", "yaml", "json"] | None = None,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """
        Returns a definition's draft or one of its versions as a YAML or JSON text. A draft that was imported as a text comes back as YAML as it was written, with its comments and its order.

        id: The id or the key of the definition.
        format: yaml (default) or json.
        version: A version number, `active` or `draft` (default).
        """
        return await self._call(EXPORT, locals())

    def list_versions(
        self,
        *,
        id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WorkflowDefinitionVersion]:
        """
        Lists the published versions of a definition, newest first, without their documents.

        id: The id or the key of the definition.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_VERSIONS, locals())

    async def get_version(
        self,
        *,
        id: str,
        version: str,
        call: CallOptions | None = None,
    ) -> WorkflowDefinitionVersion:
        """
        Returns one published version with its document. Versions never change.

        id: The id or the key of the definition.
        version: The number of the version, or `active`.
        """
        return await self._call(GET_VERSION, locals())

    async def diff(
        self,
        *,
        id: str,
        from_: str | None = None,
        to: str | None = None,
        call: CallOptions | None = None,
    ) -> DiffWorkflowDefinitionResponse:
        """
        Compares two versions of a definition, or a version with the draft. Steps are matched by their ids.

        id: The id or the key of the definition.
        from_: A version number, `draft` or `active` (default).
        to: A version number, `active` or `draft` (default).
        """
        return await self._call(DIFF, locals())

    async def get_schema(
        self,
        *,
        call: CallOptions | None = None,
    ) -> RawResponse:
        """Returns the JSON Schema of the workflow language, for editors and other tools."""
        return await self._call(GET_SCHEMA, locals())
