"""
The types of requests and responses, as dictionaries with the names of the API. A type that exists in both directions ends
with `Input` in requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .generated import types as _types

if TYPE_CHECKING:
    from .generated.types import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return getattr(_types, name)
