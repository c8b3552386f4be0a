# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class GetConfigSchemaResponse(TypedDict):
    """The schema."""

    #: Whether values can be changed.
    enabled: bool
    #: The settings, by key.
    settings: List[ConfigSetting]


class _ConfigSettingRequired(TypedDict):
    #: The dotted key.
    key: str
    #: The type of its value: boolean, integer, number, string or string_list.
    type: str
    #: The description.
    description: str
    #: The allowed values, if they are enumerated.
    allowed_values: List[str]


class ConfigSetting(_ConfigSettingRequired, total=False):
    """A setting that a tenant can change."""

    #: The default value.
    default_value: Any
    #: The minimum, for numbers.
    minimum: float
    #: The maximum, for numbers.
    maximum: float


class _ConfigValueRequired(TypedDict):
    #: The dotted key.
    key: str
    #: Whether the tenant set it; otherwise the default applies.
    overridden: bool
    #: Who set it.
    updated_by: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class ConfigValue(_ConfigValueRequired, total=False):
    """The effective value of a setting."""

    #: The effective value.
    value: Any
    #: When it was set.
    updated_at: str
