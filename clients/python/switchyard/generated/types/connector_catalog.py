# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class ConnectorProvider(TypedDict):
    """A provider: a system that connections give access to."""

    #: The key.
    key: str
    #: The version of its manifest.
    version: str
    #: The SHA-256 of the canonical manifest, in hexadecimal.
    digest: str
    #: The name.
    name: str
    #: The category.
    category: str
    #: What it is, for people.
    description: str
    #: The provider's documentation.
    docs_url: str
    #: The hosts that requests may reach.
    hosts: List[str]
    #: The ways to authenticate; the first is the default.
    auth: List[ConnectorAuthMode]
    #: Settings of a connection that are not secret.
    settings: List[ConnectorField]
    #: builtin, tenant or pack.
    source: str
    #: executable, catalog_only, unconfigured or disabled.
    runtime_status: str
    #: Why it is not executable.
    runtime_reason: str
    #: The number of its actions.
    action_count: int
    #: The number of its triggers.
    trigger_count: int


class ConnectorAuthMode(TypedDict):
    """A way to authenticate at a provider."""

    #: oauth2, oauth2_cc, api_key, basic, two_step, jwt, signed_jwt, aws_sigv4 or none.
    mode: str
    #: The credentials that are asked for.
    fields: List[ConnectorField]
    #: The scopes that are requested by default.
    default_scopes: List[str]
    #: All scopes with their meanings.
    available_scopes: Dict[str, str]
    #: Further values of a provider config, besides the client id and the client secret.
    config_fields: List[ConnectorField]


class ConnectorField(TypedDict):
    """A value that is asked for when an account is connected or a provider is configured."""

    #: The name.
    name: str
    #: The title in forms.
    title: str
    #: What it is, for people.
    description: str
    #: Whether forms hide the value.
    secret: bool
    #: Whether a value is required.
    required: bool
    #: Whether the value can have several lines.
    multiline: bool
    #: A regular expression (RE2) that values match; empty for any value.
    pattern: str
    #: The allowed values; empty for any value.
    choices: List[str]
    #: An example.
    example: str
    #: The default.
    default: str


class _ConnectorActionRequired(TypedDict):
    #: The global key, for example github.issue.create.
    key: str
    #: The provider's key.
    provider_key: str
    #: The version of the provider's manifest.
    provider_version: str
    #: The title.
    title: str
    #: What it does, for people.
    description: str
    #: The provider's category.
    category: str
    #: The properties of the input.
    input_properties: List[ConnectorProperty]
    #: The OAuth scopes that it needs.
    scopes: List[str]
    #: The permissions that it needs, in the provider's terms.
    permissions: List[str]
    #: The keys of related actions.
    related: List[str]
    #: The longest time of one attempt, in milliseconds.
    timeout_ms: int
    #: executable, catalog_only, deprecated, unconfigured or disabled. Only executable actions can be executed.
    runtime_status: str
    #: Why it is not executable.
    runtime_reason: str
    #: The action to use instead of a deprecated one.
    replaced_by: str
    #: The authentication modes of the provider.
    auth_modes: List[str]
    #: Whether all pages of a list are read.
    paginated: bool


class ConnectorAction(_ConnectorActionRequired, total=False):
    """An operation of a provider."""

    #: The JSON Schema of the input.
    input_schema: Dict[str, Any]
    #: The JSON Schema of the output, if known.
    output_schema: Dict[str, Any]
    #: What it does to the provider's data.
    mutation: ConnectorMutation
    #: When it is repeated.
    retry: ConnectorRetry


class _ConnectorPropertyRequired(TypedDict):
    #: The name.
    name: str
    #: The JSON types, for example string; empty for any.
    types: List[str]
    #: The title.
    title: str
    #: What it is, for people.
    description: str
    #: Whether a value is required.
    required: bool
    #: The allowed values; empty for any value.
    choices: List[Any]


class ConnectorProperty(_ConnectorPropertyRequired, total=False):
    """A property of an input."""

    #: The default, if any.
    default: Any
    #: The action that lists values to choose from in the account; absent if there is none. Other values are allowed, too.
    choices_from: ConnectorChoiceSource


class ConnectorChoiceSource(TypedDict):
    """An action that lists the values to choose from for a property. Execute it with the connection, and read its output."""

    #: The key of the action, which reads.
    action_key: str
    #: A JSON Pointer to the list in the output of the action.
    items: str
    #: A JSON Pointer to the value in an element of the list.
    value: str
    #: A JSON Pointer to what people are shown in an element of the list.
    label: str
    #: The properties of the input that the action needs, too, under the same names. Enter them first.
    inputs: List[str]


class ConnectorMutation(TypedDict):
    """What an action does to the provider's data."""

    #: read, search, create, update, delete or send.
    effect: str
    #: Whether data is lost.
    destructive: bool
    #: natural (repeating has no further effect), key (the provider deduplicates by a key) or none.
    idempotency: str


class ConnectorRetry(TypedDict):
    """When an action is repeated."""

    #: How often it is attempted at most.
    max_attempts: int
    #: The answer classes after which it is repeated.
    on: List[str]


class _ConnectorTriggerRequired(TypedDict):
    #: The global key, for example github.issue.changed.
    key: str
    #: The provider's key.
    provider_key: str
    #: The version of the provider's manifest.
    provider_version: str
    #: The title.
    title: str
    #: When it fires, for people.
    description: str
    #: The provider's category.
    category: str
    #: webhook or poll.
    kind: str
    #: The parameters of a subscription.
    input_properties: List[ConnectorProperty]
    #: The OAuth scopes that it needs.
    scopes: List[str]
    #: The types of its events.
    event_types: List[str]
    #: Whether subscriptions are registered at the provider; otherwise the callback URL is entered there by hand.
    registered: bool
    #: Seconds between two polls; 0 for webhooks.
    poll_every_s: int
    #: executable, catalog_only, deprecated, unconfigured or disabled.
    runtime_status: str
    #: Why it is not executable.
    runtime_reason: str
    #: The authentication modes of the provider.
    auth_modes: List[str]


class ConnectorTrigger(_ConnectorTriggerRequired, total=False):
    """Something that happens at a provider."""

    #: The JSON Schema of the parameters.
    input_schema: Dict[str, Any]
    #: The JSON Schema of its events, if known.
    output_schema: Dict[str, Any]


class _ConnectorManifestRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The provider's key.
    key: str
    #: The version.
    version: str
    #: The provider's name.
    name: str
    #: The SHA-256 of the canonical document, in hexadecimal.
    digest: str
    #: tenant or pack.
    source: str
    #: The pack that it belongs to; empty for the tenant's own.
    pack_id: str
    #: Whether it is the newest version, which connections use.
    active: bool


class ConnectorManifest(_ConnectorManifestRequired, total=False):
    """A version of a tenant's manifest. It never changes."""

    #: The document. Absent in lists.
    document: Dict[str, Any]
    #: When it was created.
    created_at: str


class DeleteManifestResponse(TypedDict):
    """The version is deleted."""


class ValidateManifestResponse(TypedDict):
    """The result of a check."""

    #: Whether a version can be created.
    valid: bool
    #: What must be corrected, at most 100 entries.
    violations: List[ConnectorManifestViolation]
    #: The digest that the version would have; empty if it is not valid.
    digest: str
    #: The keys of its actions.
    action_keys: List[str]
    #: The keys of its triggers.
    trigger_keys: List[str]


class ConnectorManifestViolation(TypedDict):
    """A rule of the manifest language that a document breaks."""

    #: Where, such as `actions["issue.create"].request.path`; empty for the document itself.
    path: str
    #: The rule, such as `unknown_field`.
    rule: str
    #: What is wrong and how to correct it, for people.
    message: str
    #: The line in the text of the request, from 1. Without a text: the line in an expression; 0 for other violations.
    line: int
    #: The column in the same text or expression, from 1; 0 if there is no line.
    column: int


class _TryManifestResponseRequired(TypedDict):
    #: What must be corrected in the manifest; nothing was tried if there is anything.
    violations: List[ConnectorManifestViolation]
    #: The requests, each with what its answer means. The last one can be without an answer.
    steps: List[ConnectorTrialStep]
    #: Where the output does not fit the output schema of the action.
    output_problems: List[str]
    #: Whether the provider names a further page that has no recorded answer, or that the action does not read.
    more_pages: bool


class TryManifestResponse(_TryManifestResponseRequired, total=False):
    """What a manifest makes of recorded answers."""

    #: The output, if the last answer is ok.
    output: Any


#: One request and what its answer means.
ConnectorTrialStep = TypedDict(
    "ConnectorTrialStep",
    {
        #: The HTTP method.
        "method": "str",
        #: The URL.
        "url": "str",
        #: The headers.
        "headers": "Dict[str, str]",
        #: The body; a binary one is in base64.
        "body": "str",
        #: What the answer means, for example ok or rate_limited; empty without an answer.
        "class": "str",
        #: The provider's error code.
        "code": "str",
        #: The provider's error message.
        "message": "str",
        #: When the provider allows the next request, if it said so.
        "retry_at": "str",
    },
    total=False,
)


class _ConnectorRecordedAnswerRequired(TypedDict):
    #: The HTTP status.
    status: int


class ConnectorRecordedAnswer(_ConnectorRecordedAnswerRequired, total=False):
    """An answer of a provider."""

    #: The headers.
    headers: Mapping[str, str]
    #: The body.
    body: str
