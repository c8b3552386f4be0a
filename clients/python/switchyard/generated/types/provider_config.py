# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _ProviderConfigRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The provider.
    provider_key: str
    #: The name.
    name: str
    #: draft, active, disabled (existing connections still work) or archived (permanently unusable).
    status: str
    #: The id of the OAuth app; empty if the provider needs none.
    client_id: str
    #: The names of the stored secrets (for example: client_secret). Their values are never returned.
    secret_names: List[str]
    #: Scopes to request besides the provider's default ones.
    scopes: List[str]
    #: Values that are not secret, for the provider's templates.
    settings: Dict[str, str]
    #: The redirect URI to register in the OAuth app. It is different for every config.
    redirect_uri: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int
    #: The version of the provider's manifest whose actions the connections execute; the newest one if empty.
    manifest_version: str


class ProviderConfig(_ProviderConfigRequired, total=False):
    """A tenant's own settings for a provider, such as its OAuth app; shown without the secrets."""

    #: When it was last activated, if ever. Of several active configs, connect sessions use the last activated one by default.
    activated_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class ProviderConfigScopes(TypedDict, total=False):
    """Scopes to request besides the provider's default ones."""

    #: The scopes, in the provider's terms.
    scopes: Sequence[str]


class ProviderConfigSettings(TypedDict, total=False):
    """Values that are not secret, for the provider's templates."""

    #: The values by name.
    settings: Mapping[str, str]


class _ProviderConfigVersionRequired(TypedDict):
    #: The provider config.
    provider_config_id: str
    #: The number of the version, from 1.
    version: int
    #: The SHA-256 of the content.
    sha256: str
    #: Whether the provider config has this content.
    active: bool
    #: change (captured from a change of the provider config) or staged.
    origin: str
    #: What is new, for people.
    message: str
    #: Who made the change or staged the version.
    created_by: str
    #: The content as canonical JSON: the bytes that the digest is of. It has client_id, scopes, settings, and manifest_version if it is not empty.
    content: str


class ProviderConfigVersion(_ProviderConfigVersionRequired, total=False):
    """What a provider config sends to its provider, without secrets."""

    #: When.
    created_at: str
