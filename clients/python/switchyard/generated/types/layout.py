# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _LayoutRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The name, unique on its channel.
    name: str
    #: The description.
    description: str
    #: The channel: email, sms, push, chat or inapp.
    channel: str
    #: The template language: handlebars or liquid.
    engine: str
    #: The template around the content; HTML on email.
    body: str
    #: The template around the content without markup; empty if there is none.
    text_body: str
    #: Whether it is used for notifications that name no layout.
    is_default: bool
    #: The version of its text, from 1.
    version: int
    #: The variables that its templates read, except the content.
    variables: List[str]


class Layout(_LayoutRequired, total=False):
    """A template around the notifications of one channel."""

    #: Free-form data of the tenant.
    metadata: Dict[str, Any]
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class GetLayoutUsageResponse(TypedDict):
    """The use of a layout."""

    #: The keys of the notification workflows that use it, sorted; 1000 at most.
    workflow_keys: List[str]
    #: Whether there are more.
    more: bool


class PreviewLayoutResponse(TypedDict):
    """A layout, rendered with placeholder content."""

    #: The rendered body with placeholder content.
    body: str
    #: The rendered body without markup; empty if the layout has none.
    text_body: str
    #: The variables that the sample provides.
    resolved_variables: List[str]
    #: The variables that the sample does not provide; they are rendered as empty.
    unresolved_variables: List[str]
