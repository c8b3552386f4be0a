# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _TemplatePartialRequired(TypedDict):
    #: The key, unique in the tenant: lower-case letters and digits, separated by single hyphens or underscores (for example: order-footer).
    key: str
    #: The owning tenant.
    tenant_id: str
    #: The description.
    description: str
    #: The template language, "handlebars" or "liquid". Only templates of the same language can include it.
    engine: str
    #: The template.
    body: str
    #: The partials that it includes, sorted.
    includes: List[str]
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class TemplatePartial(_TemplatePartialRequired, total=False):
    """A piece of a template."""

    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
