# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _SecretRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: Its name, unique in the tenant.
    name: str
    #: The version of its value.
    version: int
    #: The id of the master key that encrypts it.
    encryption_key_id: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Secret(_SecretRequired, total=False):
    """The metadata of a secret."""

    #: Free-form notes; not secret.
    metadata: Dict[str, Any]
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
