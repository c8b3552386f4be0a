# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class ServicesReport(TypedDict):
    """All mounted services."""

    #: The plane of the report: external or internal.
    plane: str
    #: The version of the API.
    api_version: str
    #: The services.
    services: List[ServiceReport]


class ServiceReport(TypedDict):
    """One mounted service."""

    #: Its full name.
    name: str
    #: The description.
    description: str
    #: Its methods.
    methods: List[MethodReport]


class MethodReport(TypedDict):
    """One method."""

    #: Its name.
    name: str
    #: The description.
    description: str
    #: Its Connect path.
    connect_path: str
    #: Its HTTP verb.
    http_method: str
    #: Its REST path.
    http_path: str
    #: All scopes that it needs.
    scopes: List[str]
    #: Roles of which the caller must have one.
    roles: List[str]
    #: Whether the caller must be authenticated.
    authentication_required: bool
    #: Whether it changes state.
    mutating: bool
    #: Whether it returns a stream.
    streaming: bool
    #: Whether it is deprecated.
    deprecated: bool
    #: Its cost in rate-limit tokens.
    token_cost: int


class ListCapabilityPosturesResponse(TypedDict):
    """The postures."""

    #: Every capability that is not hidden, by id.
    capabilities: List[Capability]


class Capability(TypedDict):
    """A capability of the instance."""

    #: Its id, for example "api_keys".
    id: str
    #: The display name.
    name: str
    #: The description.
    description: str
    #: active, disabled, unwired or degraded.
    mode: str
    #: The reason, if it is not active.
    reason: str
    #: The settings that control it.
    settings: List[str]
    #: Its dependencies.
    dependencies: List[str]
    #: The services whose operations belong to it.
    services: List[str]


class ResolveNamesResponse(TypedDict):
    """The names that were found."""

    #: The names. An id that belongs to records of several kinds, such as a decision and its queue item, has several.
    names: List[ResolvedName]


class _ResolvedNameRequired(TypedDict):
    #: The id that was asked about.
    id: str
    #: The kind of the record, such as recipient or api_key.
    kind: str
    #: The id of the record, without what precedes it in the id that was asked about.
    record_id: str
    #: The name. A record without one is named by what identifies it to people: an item by its type and key, a run by its workflow and key.
    name: str
    #: The record that it belongs to, such as the pool of a rule; empty for none.
    parent_id: str


class ResolvedName(_ResolvedNameRequired, total=False):
    """What people call a record."""

    #: When the record was created, if others are likely to have the same name.
    created_at: str
