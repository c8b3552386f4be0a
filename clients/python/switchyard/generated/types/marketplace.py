# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _PublisherKeyRequired(TypedDict):
    #: The id, which is derived from the key.
    id: str
    #: The publisher.
    publisher: str
    #: The Ed25519 public key, 32 bytes as base64.
    public_key: str
    #: active or revoked.
    status: str
    #: Whether it ships with the service.
    built_in: bool
    #: Why it was revoked.
    revoke_reason: str


class PublisherKey(_PublisherKeyRequired, total=False):
    """A key that signs packs of a publisher."""

    #: When it was registered; absent for built-in keys.
    created_at: str
    #: When it was revoked, if ever.
    revoked_at: str


class _PackRequired(TypedDict):
    #: The publisher.
    publisher: str
    #: The name, unique for its publisher.
    name: str
    #: connector, workflow, notification or rules.
    kind: str
    #: The version that the other fields describe.
    version: str
    #: The title for people.
    title: str
    #: The description.
    description: str
    #: Words to search for.
    tags: List[str]
    #: The packs that must be installed before.
    requires: List[PackRequirement]
    #: What the installer provides.
    slots: List[PackSlot]
    #: The SHA-256 of the pack as canonical JSON, in hexadecimal.
    digest: str
    #: The key that signed it.
    key_id: str
    #: Whether this version is yanked.
    yanked: bool
    #: The pack that replaces this one, publisher/name; empty if there is none.
    deprecated_by: str
    #: Whether it ships with the service.
    built_in: bool
    #: The installation in the caller's tenant; empty if it is not installed.
    installation_id: str
    #: The version that is installed; empty if it is not installed.
    installed_version: str
    #: All versions, newest first; absent in lists.
    versions: List[PackVersion]


class Pack(_PackRequired, total=False):
    """A pack as one of its versions describes it."""

    #: What its records may do.
    permissions: PackPermissions
    #: The whole document with digest and signature; absent in lists.
    document: Dict[str, Any]


class PackPermissions(TypedDict):
    """What the records of a pack may do. A pack whose records do more than it declares is refused."""

    #: The hosts that connectors call.
    hosts: List[str]
    #: The OAuth scopes that connectors ask for.
    scopes: List[str]
    #: What happens when the records are used, such as `notify:email` or `workflow:route`.
    effects: List[str]


class PackRequirement(TypedDict):
    """A pack that another one needs."""

    #: The pack: publisher/name.
    pack: str
    #: A range of versions, such as ^1.2.0.
    version: str


class PackSlot(TypedDict):
    """A value that the installer of a pack provides."""

    #: The name.
    name: str
    #: connection, pool, environment, text or number.
    kind: str
    #: The title for people.
    title: str
    #: What the value is used for.
    description: str
    #: Whether a value must be given.
    required: bool
    #: The value if none is given; empty if there is none.
    default_value: str
    #: The provider of a connection; empty for any.
    provider_key: str


class _PackVersionRequired(TypedDict):
    #: The version, such as 1.2.0.
    version: str
    #: The SHA-256 of the pack as canonical JSON, in hexadecimal.
    digest: str
    #: The key that signed it.
    key_id: str
    #: Whether it can no longer be installed.
    yanked: bool
    #: Why it was yanked.
    yank_reason: str


class PackVersion(_PackVersionRequired, total=False):
    """A version of a pack, without its document."""

    #: When it was published; absent for built-in packs.
    published_at: str


class ExportPackResponse(TypedDict, total=False):
    """The exported pack."""

    #: The pack with its digest, without a signature.
    pack: Dict[str, Any]


class ExportedRecord(TypedDict):
    """A record to export."""

    #: The kind: workflow_definition, workflow_trigger, layout, notification_workflow, pool, rule or manifest.
    kind: Literal["workflow_definition", "workflow_trigger", "layout", "notification_workflow", "pool", "rule", "manifest"]
    #: The id of the record, or its key.
    record: str


class _InstallPlanRequired(TypedDict):
    #: The publisher of the pack.
    publisher: str
    #: The name of the pack.
    name: str
    #: The installed version; empty for an install.
    from_version: str
    #: The version to install.
    to_version: str
    #: The changes of records.
    changes: List[PlannedChange]
    #: Values that both the tenant and the pack changed.
    conflicts: List[PackConflict]
    #: Required slots that have no value yet.
    missing_slots: List[str]


class InstallPlan(_InstallPlanRequired, total=False):
    """What an install or upgrade would do."""

    #: Permissions that the version needs in addition.
    added_permissions: PackPermissions
    #: Permissions that the version no longer needs.
    removed_permissions: PackPermissions


class PlannedChange(TypedDict):
    """What an install or upgrade does to one record."""

    #: The key of the record in the pack.
    key: str
    #: The kind of the record.
    kind: str
    #: create, update, delete, keep (the tenant's own changes stay) or unchanged.
    action: str
    #: The id of the record; empty if it does not exist yet.
    record_id: str
    #: What changes, as JSON Pointers.
    paths: List[str]


class PackConflict(TypedDict):
    """A value that both the tenant and the pack changed."""

    #: The key of the record in the pack.
    key: str
    #: The kind of the record.
    kind: str
    #: The value, as a JSON Pointer; empty for the whole record.
    path: str
    #: What each side did.
    reason: str


class _InstallationRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The publisher of the pack.
    publisher: str
    #: The name of the pack.
    name: str
    #: The kind of the pack.
    kind: str
    #: The installed version.
    version: str
    #: The digest of the installed version.
    digest: str
    #: The records of the installation.
    records: List[InstalledRecord]
    #: Whether the last change is an upgrade, which can be rolled back.
    can_roll_back: bool
    #: The newest version that can be installed.
    available_version: str
    #: The latest changes, newest first; absent in lists.
    changes: List[InstallationChange]
    #: The version of the record.
    record_version: int


class Installation(_InstallationRequired, total=False):
    """A pack that is installed in a tenant."""

    #: The values of the slots.
    slots: Dict[str, Any]
    #: The permissions that the tenant accepted.
    permissions: PackPermissions
    #: When it was installed.
    created_at: str
    #: When it last changed.
    updated_at: str


class InstalledRecord(TypedDict):
    """A record that belongs to an installation."""

    #: The key of the record in the pack.
    key: str
    #: The kind: manifest, workflow_definition, workflow_trigger, layout, notification_workflow, pool or rule.
    kind: str
    #: The id of the record, or its key if records of the kind have no id.
    record_id: str


class _InstallationChangeRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: install, upgrade, rollback or uninstall.
    operation: str
    #: The version before; empty for an install.
    from_version: str
    #: The version after; empty for an uninstall.
    to_version: str
    #: Who made the change.
    actor: str


class InstallationChange(_InstallationChangeRequired, total=False):
    """A change of an installation."""

    #: When it was made.
    created_at: str


class UpgradePackResponse(TypedDict, total=False):
    """The result of an upgrade."""

    #: The installation.
    installation: Installation
    #: What was done.
    plan: InstallPlan


class PackPermissionsInput(TypedDict, total=False):
    """What the records of a pack may do. A pack whose records do more than it declares is refused."""

    #: The hosts that connectors call.
    hosts: Sequence[str]
    #: The OAuth scopes that connectors ask for.
    scopes: Sequence[str]
    #: What happens when the records are used, such as `notify:email` or `workflow:route`.
    effects: Sequence[str]
