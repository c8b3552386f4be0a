# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class Violation(TypedDict):
    """A violated rule of a field."""

    #: The path of the field within the item, such as `requirements.skills["welding"]`.
    field: str
    #: The rule, such as "string.max_len".
    rule: str
    #: What is allowed, for people.
    message: str
