# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class ExecuteActionResponse(TypedDict, total=False):
    """The result of an execution."""

    #: The execution; absent for a dry run, which leaves no record.
    execution: ConnectorExecution
    #: The request that a dry run rendered.
    request: ConnectorRenderedRequest


#: One execution of an action. Credentials are replaced wherever a provider repeats them.
ConnectorExecution = TypedDict(
    "ConnectorExecution",
    {
        #: The id, a ULID.
        "id": "str",
        #: The owning tenant.
        "tenant_id": "str",
        #: The action, such as github.issue.create.
        "action_key": "str",
        #: The provider.
        "provider_key": "str",
        #: The version of the provider's manifest.
        "manifest_version": "str",
        #: The connection; empty for providers without authentication.
        "connection_id": "str",
        #: running, succeeded, failed or outcome_unknown. A failed execution changed nothing. outcome_unknown: the provider may have performed the action.
        "status": "str",
        #: What the last answer means: ok, rate_limited, auth_expired, permission_denied, not_found, conflict, invalid_input, unavailable, failed or malformed. Empty while it is running.
        "class": "str",
        #: The provider's error code, an HTTP status such as http_404, or why there was no answer, such as connection_lost.
        "code": "str",
        #: What went wrong, in the provider's words if it gave any.
        "message": "str",
        #: The requests that were sent, in order. Only the first 100 are kept.
        "attempts": "List[ConnectorExecutionAttempt]",
        #: The output of an execution that succeeded.
        "output": "Any",
        #: Whether the output is larger than 256 KiB. The response of the first call has it; the record does not.
        "output_omitted": "bool",
        #: Whether the provider has more pages than the action reads, or names a page again that was read.
        "pages_truncated": "bool",
        #: The request, without values.
        "request": "ConnectorRequestSummary",
        #: The key that the provider deduplicates by; empty if it does not deduplicate.
        "deduplication_key": "str",
        #: Where it came from: api, workflow or routing.
        "origin": "str",
        #: The id of the request, or of the workflow run or queue item that it was executed for.
        "origin_id": "str",
        #: When the provider allows the next request, if it limited this one.
        "retry_at": "str",
        #: When it started.
        "started_at": "str",
        #: When it ended.
        "ended_at": "str",
        #: Whether an execution without success can be repeated without having an effect twice.
        "repeatable": "bool",
    },
    total=False,
)


#: One request to a provider.
ConnectorExecutionAttempt = TypedDict(
    "ConnectorExecutionAttempt",
    {
        #: The number of the request, from 1.
        "number": "int",
        #: The page that it requested, from 1; 0 for actions without pages.
        "page": "int",
        #: When it was sent.
        "started_at": "str",
        #: How long it took, in milliseconds.
        "duration_ms": "int",
        #: The HTTP status; 0 without an answer.
        "http_status": "int",
        #: What the answer means.
        "class": "str",
        #: The provider's error code, or why there was no answer.
        "code": "str",
        #: Whether the provider may have performed the action, although the attempt failed.
        "may_have_taken_effect": "bool",
    },
    total=False,
)


class ConnectorRequestSummary(TypedDict):
    """A request to a provider, without values."""

    #: The HTTP method.
    method: str
    #: The host.
    host: str
    #: The path as the manifest writes it, with placeholders.
    path: str


class ConnectorRenderedRequest(TypedDict):
    """A rendered request, with credentials replaced."""

    #: The HTTP method.
    method: str
    #: The URL.
    url: str
    #: The headers.
    headers: Dict[str, str]
    #: The body; binary bodies are in base64.
    body: str
    #: Whether the body was cut off after 64 KiB.
    body_truncated: bool


class ProxyConnectionResponse(TypedDict):
    """The answer of a provider."""

    #: The execution.
    execution_id: str
    #: The HTTP status.
    status: int
    #: The headers, by lower-case name, without cookies. Credentials are replaced wherever the provider repeats them.
    headers: Dict[str, str]
    #: The body, if it is a text.
    body: str
    #: The body, if it is not a text.
    body_bytes: str
    #: Whether a repeat of the call leaves the body out, because it is larger than 256 KiB.
    body_omitted: bool


class ConnectorExecutionExplanation(TypedDict):
    """What happened in an execution."""

    #: The execution.
    execution_id: str
    #: Its status.
    status: str
    #: One sentence that sums it up.
    summary: str
    #: Whether the action may have had an effect: yes, no or unknown.
    effect: str
    #: What would help; empty if nothing has to be done.
    remedies: List[str]
    #: What each request did, and why it was or was not repeated.
    attempts: List[ConnectorAttemptExplanation]


class ConnectorAttemptExplanation(TypedDict):
    """What one request did."""

    #: The number of the request.
    number: int
    #: What happened.
    outcome: str
    #: What followed, and why.
    consequence: str
