# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _WorkflowDefinitionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The key, unique among the tenant's definitions that are not archived.
    key: str
    #: The name of the draft.
    name: str
    #: The state.
    status: WorkflowDefinitionStatus
    #: The version that new runs use, or the last one of an archived definition; 0 if none was published.
    active_version: int
    #: Whether the draft differs from the active version.
    has_unpublished_changes: bool
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class WorkflowDefinition(_WorkflowDefinitionRequired, total=False):
    """A workflow definition: the steps that runs execute. The draft is edited, and published as immutable versions."""

    #: The draft, a document of the workflow language. Absent in lists.
    draft: Dict[str, Any]
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


#: The state of a definition.
WorkflowDefinitionStatus = Literal["STATUS_UNSPECIFIED", "STATUS_DRAFT", "STATUS_PUBLISHED", "STATUS_ARCHIVED"]


class _PublishWorkflowDefinitionResponseRequired(TypedDict):
    #: Whether the draft equals the version that was active before, or the newest staged one, so that nothing was published.
    unchanged: bool


class PublishWorkflowDefinitionResponse(_PublishWorkflowDefinitionResponseRequired, total=False):
    """The result of publishing."""

    #: The definition, without its draft.
    workflow_definition: WorkflowDefinition
    #: The published version, without its document. It is the active one, unless it was staged.
    version: WorkflowDefinitionVersion


class _WorkflowDefinitionVersionRequired(TypedDict):
    #: The definition's id.
    definition_id: str
    #: The definition's key.
    key: str
    #: The number, from 1.
    version: int
    #: The state.
    status: WorkflowDefinitionVersionStatus
    #: The SHA-256 of the document as canonical JSON (RFC 8785), in hexadecimal.
    digest: str
    #: What the publisher wrote about the version.
    message: str
    #: Who published it.
    published_by: str


class WorkflowDefinitionVersion(_WorkflowDefinitionVersionRequired, total=False):
    """A published version of a definition. It never changes."""

    #: The document. Absent in lists.
    document: Dict[str, Any]
    #: When it was published.
    published_at: str


#: The state of a version.
WorkflowDefinitionVersionStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_SUPERSEDED", "STATUS_RETIRED", "STATUS_STAGED"]


class _ValidateWorkflowDefinitionResponseRequired(TypedDict):
    #: Whether the document can be published.
    valid: bool
    #: What must be corrected, at most 100 entries. The structure is checked first, and the rest once it is valid.
    violations: List[WorkflowDefinitionViolation]
    #: The digest that a version with this document has; empty if it is not valid.
    digest: str
    #: How many steps a run executes at most; 0 if the document is not valid.
    worst_case_steps: int


class ValidateWorkflowDefinitionResponse(_ValidateWorkflowDefinitionResponseRequired, total=False):
    """The result of a check."""

    #: The document of the text; absent if it came as JSON, or if the text is not that of an object.
    document: Dict[str, Any]


class _WorkflowDefinitionViolationRequired(TypedDict):
    #: Where, such as `steps[2].branch[0].when`; empty for the document itself.
    path: str
    #: The rule, such as `unknown_field`.
    rule: str
    #: What is wrong and how to correct it, for people.
    message: str


class WorkflowDefinitionViolation(_WorkflowDefinitionViolationRequired, total=False):
    """A rule of the workflow language that a document breaks."""

    #: The place in an expression, including its `=`; absent for other violations.
    position: WorkflowTextPosition
    #: The place in the text that was checked; absent if the document came as JSON.
    text_position: WorkflowTextPosition


class WorkflowTextPosition(TypedDict):
    """A position in a text."""

    #: The line, from 1.
    line: int
    #: The column, from 1.
    column: int


class _ImportWorkflowDefinitionResponseRequired(TypedDict):
    #: Whether the definition was created.
    created: bool
    #: Whether the draft was already equal to the text.
    unchanged: bool


class ImportWorkflowDefinitionResponse(_ImportWorkflowDefinitionResponseRequired, total=False):
    """The result of an import."""

    #: The definition.
    workflow_definition: WorkflowDefinition


class DiffWorkflowDefinitionResponse(TypedDict):
    """The differences between two documents."""

    #: Whether the documents are equal.
    equal: bool
    #: The fields that differ, except steps.
    fields: List[WorkflowValueChange]
    #: The steps that differ.
    steps: List[WorkflowStepChange]
    #: Whether there are more differences than are listed.
    truncated: bool


class _WorkflowValueChangeRequired(TypedDict):
    #: The path of the value, below the step if it is in one.
    path: str


class WorkflowValueChange(_WorkflowValueChangeRequired, total=False):
    """A value that differs."""

    #: The value before as JSON, shortened if it is long; absent if there was none.
    before: str
    #: The value after as JSON, shortened if it is long; absent if there is none.
    after: str


class WorkflowStepChange(TypedDict):
    """A step that differs."""

    #: The id of the step.
    id: str
    #: added, removed, changed or moved.
    change: str
    #: Whether a changed step is also in another place.
    moved: bool
    #: Its path before; empty if it was added.
    before_path: str
    #: Its path after; empty if it was removed.
    after_path: str
    #: What differs inside a changed step, without the steps inside of it.
    values: List[WorkflowValueChange]
