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
    from ..types.connector_action import ConnectorExecution, ConnectorExecutionExplanation, ExecuteActionResponse, ProxyConnectionResponse

EXECUTE = Operation("POST", "/api/v2/connector/actions/{key}:execute", body="*", keyed=True)
PROXY_CONNECTION = Operation("POST", "/api/v2/connector/connections/{connection_id}:proxy", body="*", keyed=True)
GET_EXECUTION = Operation("GET", "/api/v2/connector/executions/{execution_id}")
LIST_EXECUTIONS = Operation("GET", "/api/v2/connector/executions", result="cursor")
EXPLAIN_EXECUTION = Operation("GET", "/api/v2/connector/executions/{execution_id}:explain")


class ConnectorActionService(Service):
    """Executes the actions of connectors at their providers, and keeps records of the executions."""

    def execute(
        self,
        *,
        key: str,
        connection_id: str | None = None,
        input: Mapping[str, Any] | None = None,
        deduplication_key: str | None = None,
        dry_run: bool | None = None,
        timeout_ms: int | None = None,
        call: CallOptions | None = None,
    ) -> ExecuteActionResponse:
        """
        Executes an action and waits for the provider. An action that changes something is sent again only if that cannot have an effect twice. Repeating a call with the same Idempotency-Key never executes a succeeded action again.

        key: The action, such as github.issue.create.
        connection_id: The connection to use. Leave it out for providers without authentication.
        input: The input, as the action's schema describes it.
        deduplication_key: The key that the provider deduplicates by. By default it is derived from the Idempotency-Key of the call, or from the id of the execution. To repeat an execution with an unknown outcome, send the key of its record.
        dry_run: Renders the request and sends nothing.
        timeout_ms: Milliseconds that the execution may take, retries included. At most, and by default, what the action allows.
        """
        return self._call(EXECUTE, locals())

    def proxy_connection(
        self,
        *,
        connection_id: str,
        method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        path: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        body_bytes: str | None = None,
        timeout_ms: int | None = None,
        call: CallOptions | None = None,
    ) -> ProxyConnectionResponse:
        """
        Sends any request to the provider of a connection, with the credentials of the connection, and returns the answer, whatever its status is. Rejected credentials, rate limits and missing answers are errors, as for actions. The request goes to the base URL of the provider and the paths below it, is repeated only after a renewal of the token, and leaves an execution.

        connection_id: The connection.
        method: The HTTP method.
        path: The path below the base URL of the provider, with the query, both encoded (for example: /repos/acme/site/issues?state=open).
        headers: The headers. Those of the connection's credentials and of the connection between two servers are left out.
        body: The body as a text, by default JSON.
        body_bytes: The body, if it is not a text.
        timeout_ms: Milliseconds to wait for the answer; 30,000 by default.
        """
        return self._call(PROXY_CONNECTION, locals())

    def get_execution(
        self,
        *,
        execution_id: str,
        call: CallOptions | None = None,
    ) -> ConnectorExecution:
        """
        Returns one execution.

        execution_id: The execution.
        """
        return self._call(GET_EXECUTION, locals())

    def list_executions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        connection_id: str | None = None,
        action_key: str | None = None,
        provider_key: str | None = None,
        status: Literal["", "running", "succeeded", "failed", "outcome_unknown"] | None = None,
        origin: Literal["", "api", "workflow", "routing"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ConnectorExecution]:
        """
        Lists executions, the newest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        connection_id: Only those of this connection.
        action_key: Only those of this action.
        provider_key: Only those of this provider.
        status: Only those with this status.
        origin: Only those from here: api, workflow or routing.
        """
        return self._call(LIST_EXECUTIONS, locals())

    def explain_execution(
        self,
        *,
        execution_id: str,
        call: CallOptions | None = None,
    ) -> ConnectorExecutionExplanation:
        """
        Explains what happened in an execution, why it failed, and what would help.

        execution_id: The execution.
        """
        return self._call(EXPLAIN_EXECUTION, locals())


class AsyncConnectorActionService(AsyncService):
    """Executes the actions of connectors at their providers, and keeps records of the executions."""

    async def execute(
        self,
        *,
        key: str,
        connection_id: str | None = None,
        input: Mapping[str, Any] | None = None,
        deduplication_key: str | None = None,
        dry_run: bool | None = None,
        timeout_ms: int | None = None,
        call: CallOptions | None = None,
    ) -> ExecuteActionResponse:
        """
        Executes an action and waits for the provider. An action that changes something is sent again only if that cannot have an effect twice. Repeating a call with the same Idempotency-Key never executes a succeeded action again.

        key: The action, such as github.issue.create.
        connection_id: The connection to use. Leave it out for providers without authentication.
        input: The input, as the action's schema describes it.
        deduplication_key: The key that the provider deduplicates by. By default it is derived from the Idempotency-Key of the call, or from the id of the execution. To repeat an execution with an unknown outcome, send the key of its record.
        dry_run: Renders the request and sends nothing.
        timeout_ms: Milliseconds that the execution may take, retries included. At most, and by default, what the action allows.
        """
        return await self._call(EXECUTE, locals())

    async def proxy_connection(
        self,
        *,
        connection_id: str,
        method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        path: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        body_bytes: str | None = None,
        timeout_ms: int | None = None,
        call: CallOptions | None = None,
    ) -> ProxyConnectionResponse:
        """
        Sends any request to the provider of a connection, with the credentials of the connection, and returns the answer, whatever its status is. Rejected credentials, rate limits and missing answers are errors, as for actions. The request goes to the base URL of the provider and the paths below it, is repeated only after a renewal of the token, and leaves an execution.

        connection_id: The connection.
        method: The HTTP method.
        path: The path below the base URL of the provider, with the query, both encoded (for example: /repos/acme/site/issues?state=open).
        headers: The headers. Those of the connection's credentials and of the connection between two servers are left out.
        body: The body as a text, by default JSON.
        body_bytes: The body, if it is not a text.
        timeout_ms: Milliseconds to wait for the answer; 30,000 by default.
        """
        return await self._call(PROXY_CONNECTION, locals())

    async def get_execution(
        self,
        *,
        execution_id: str,
        call: CallOptions | None = None,
    ) -> ConnectorExecution:
        """
        Returns one execution.

        execution_id: The execution.
        """
        return await self._call(GET_EXECUTION, locals())

    def list_executions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        connection_id: str | None = None,
        action_key: str | None = None,
        provider_key: str | None = None,
        status: Literal["", "running", "succeeded", "failed", "outcome_unknown"] | None = None,
        origin: Literal["", "api", "workflow", "routing"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ConnectorExecution]:
        """
        Lists executions, the newest first.

        limit: The page size: 50 by default, 1000 at most.
        cursor: The token of the previous page's response.
        offset: The number of items to skip.
        connection_id: Only those of this connection.
        action_key: Only those of this action.
        provider_key: Only those of this provider.
        status: Only those with this status.
        origin: Only those from here: api, workflow or routing.
        """
        return self._list(LIST_EXECUTIONS, locals())

    async def explain_execution(
        self,
        *,
        execution_id: str,
        call: CallOptions | None = None,
    ) -> ConnectorExecutionExplanation:
        """
        Explains what happened in an execution, why it failed, and what would help.

        execution_id: The execution.
        """
        return await self._call(EXPLAIN_EXECUTION, locals())
