# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.marketplace import ExportPackResponse, ExportedRecord, InstallPlan, Installation, Pack, PackPermissionsInput, PublisherKey, UpgradePackResponse

REGISTER_PUBLISHER_KEY = Operation("POST", "/api/v2/marketplace/publisher-keys", body="*", keyed=True)
LIST_PUBLISHER_KEYS = Operation("GET", "/api/v2/marketplace/publisher-keys", result="numbered")
REVOKE_PUBLISHER_KEY = Operation("POST", "/api/v2/marketplace/publisher-keys/{id}/revoke", body="*", keyed=True)
LIST_PACKS = Operation("GET", "/api/v2/marketplace/packs", result="numbered")
GET_PACK = Operation("GET", "/api/v2/marketplace/packs/{publisher}/{name}")
PUBLISH_PACK = Operation("POST", "/api/v2/marketplace/packs", body="*", keyed=True)
YANK_PACK = Operation("POST", "/api/v2/marketplace/packs/{publisher}/{name}/versions/{version}/yank", body="*", keyed=True)
EXPORT_PACK = Operation("POST", "/api/v2/marketplace/packs:export", body="*")
PREVIEW_INSTALL = Operation("POST", "/api/v2/marketplace/installations:preview", body="*")
INSTALL_PACK = Operation("POST", "/api/v2/marketplace/installations", body="*", keyed=True)
LIST_INSTALLATIONS = Operation("GET", "/api/v2/marketplace/installations", result="numbered")
GET_INSTALLATION = Operation("GET", "/api/v2/marketplace/installations/{id}")
UPGRADE_PACK = Operation("POST", "/api/v2/marketplace/installations/{id}/upgrade", body="*", keyed=True)
ROLLBACK_PACK = Operation("POST", "/api/v2/marketplace/installations/{id}/rollback", body="*", keyed=True)
UNINSTALL_PACK = Operation("POST", "/api/v2/marketplace/installations/{id}/uninstall", body="*", keyed=True)


class MarketplaceService(Service):
    """The marketplace: signed packs of manifests, workflows, notifications and rules, and their installations in a tenant."""

    def register_publisher_key(
        self,
        *,
        publisher: str,
        public_key: str,
        call: CallOptions | None = None,
    ) -> PublisherKey:
        """
        Registers a public key of a publisher. Packs of this publisher are trusted in the caller's tenant if this key signed them. The publishers of a tenant are its own: other tenants may use the same names.

        publisher: The publisher: lower-case letters, digits and single hyphens. Names that start with `switchyard` are reserved.
        public_key: The Ed25519 public key: 32 bytes as base64, or a PEM text.
        """
        return self._call(REGISTER_PUBLISHER_KEY, locals())

    def list_publisher_keys(
        self,
        *,
        publisher: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[PublisherKey]:
        """
        Lists the publisher keys that the caller's tenant trusts or has revoked, built-in ones included.

        publisher: Only keys of this publisher.
        page: The page, from 1; default 1.
        per_page: The number of items per page, at most 100; default 20.
        """
        return self._call(LIST_PUBLISHER_KEYS, locals())

    def revoke_publisher_key(
        self,
        *,
        id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> PublisherKey:
        """
        Revokes a publisher key permanently: nothing that it signed can be installed any more. Installations keep running.

        id: The id of the key.
        reason: Why it is revoked.
        """
        return self._call(REVOKE_PUBLISHER_KEY, locals())

    def list_packs(
        self,
        *,
        query: str | None = None,
        kind: Literal["connector", "workflow", "notification", "rules"] | None = None,
        publisher: str | None = None,
        installed: bool | None = None,
        page: int | None = None,
        per_page: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Pack]:
        """
        Lists the packs that the caller's tenant can install, best match first, or by name without a query. Each pack is described by its newest version that is not yanked.

        query: Words to search for in names, titles, descriptions and tags.
        kind: Only this kind: connector, workflow, notification or rules.
        publisher: Only packs of this publisher.
        installed: Only packs that are installed, or only packs that are not.
        page: The page, from 1; default 1.
        per_page: The number of items per page, at most 100; default 20.
        """
        return self._call(LIST_PACKS, locals())

    def get_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> Pack:
        """
        Returns one version of a pack with its document, and a list of all versions.

        publisher: The publisher.
        name: The name.
        version: The version; empty for the newest that is not yanked.
        """
        return self._call(GET_PACK, locals())

    def publish_pack(
        self,
        *,
        pack: Mapping[str, Any],
        call: CallOptions | None = None,
    ) -> Pack:
        """
        Publishes a version of a pack in the caller's tenant. The pack must be signed with a registered key of its publisher. A version never changes: publishing the same document again has no effect.

        pack: The pack with digest, signature and key_id, as `service pack sign` writes it.
        """
        return self._call(PUBLISH_PACK, locals())

    def yank_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str,
        reason: str | None = None,
        deprecated_by: str | None = None,
        call: CallOptions | None = None,
    ) -> Pack:
        """
        Yanks a version of a pack: it can no longer be installed. Installations keep running. A yanked version stays readable.

        publisher: The publisher.
        name: The name.
        version: The version.
        reason: Why it is yanked.
        deprecated_by: The pack that replaces it, publisher/name; empty if there is none.
        """
        return self._call(YANK_PACK, locals())

    def export_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str,
        title: str,
        description: str | None = None,
        records: Sequence[ExportedRecord],
        call: CallOptions | None = None,
    ) -> ExportPackResponse:
        """
        Returns a pack made from records of the caller's tenant. It is not signed: sign it with `service pack sign`, then publish it. The private key never leaves its owner.

        publisher: The publisher.
        name: The name.
        version: The version, such as 1.0.0.
        title: The title for people.
        description: The description.
        records: The records, in the order in which they are installed. All must belong to the same kind of pack.
        """
        return self._call(EXPORT_PACK, locals())

    def preview_install(
        self,
        *,
        publisher: str,
        name: str,
        version: str | None = None,
        slots: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> InstallPlan:
        """
        Shows what installing a pack, or upgrading its installation, would create, change and delete, which conflicts it would have, and how its permissions differ. Nothing is stored.

        publisher: The publisher.
        name: The name.
        version: The version; empty for the newest that is not yanked.
        slots: The values of slots; for an upgrade, those that change.
        """
        return self._call(PREVIEW_INSTALL, locals())

    def install_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str | None = None,
        slots: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Installs a pack: all of its records are created, or none. The caller also needs the scopes to create each kind of record. A tenant has at most one installation of a pack.

        publisher: The publisher.
        name: The name.
        version: The version; empty for the newest that is not yanked.
        slots: The values of slots.
        """
        return self._call(INSTALL_PACK, locals())

    def list_installations(
        self,
        *,
        kind: Literal["connector", "workflow", "notification", "rules"] | None = None,
        page: int | None = None,
        per_page: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Installation]:
        """
        Lists the installations of the caller's tenant, oldest first.

        kind: Only packs of this kind: connector, workflow, notification or rules.
        page: The page, from 1; default 1.
        per_page: The number of items per page, at most 100; default 20.
        """
        return self._call(LIST_INSTALLATIONS, locals())

    def get_installation(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Returns one installation with its records and its latest changes.

        id: The installation's id.
        """
        return self._call(GET_INSTALLATION, locals())

    def upgrade_pack(
        self,
        *,
        id: str,
        version: str | None = None,
        slots: Mapping[str, Any] | None = None,
        on_conflict: Literal["refuse", "keep", "replace"] | None = None,
        accepted_permissions: PackPermissionsInput | None = None,
        call: CallOptions | None = None,
    ) -> UpgradePackResponse:
        """
        Upgrades an installation to a newer version. The tenant's own changes of the records are merged with the changes of the pack. Refused with PACK_CONFLICT if both changed the same value, and with PACK_CONSENT_REQUIRED if the new version needs permissions that the request does not accept.

        id: The installation's id.
        version: The version; empty for the newest that is not yanked. It must be newer than the installed one.
        slots: The values of slots that change. The others keep their values.
        on_conflict: What happens to values that both the tenant and the pack changed: refuse (default), keep (the tenant's value) or replace (the pack's value).
        accepted_permissions: Additional permissions that the caller accepts, as the preview shows them.
        """
        return self._call(UPGRADE_PACK, locals())

    def rollback_pack(
        self,
        *,
        id: str,
        discard_changes: bool | None = None,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Rolls the last upgrade of an installation back: its records are exactly as they were before. Refused if a record changed since, unless these changes are to be discarded.

        id: The installation's id.
        discard_changes: Whether changes that were made after the upgrade are lost. Without it they refuse the rollback.
        """
        return self._call(ROLLBACK_PACK, locals())

    def uninstall_pack(
        self,
        *,
        id: str,
        keep_records: bool | None = None,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Uninstalls a pack: deletes its records and forgets the installation. Refused with IN_USE while something else refers to one of the records, or while another installed pack requires this one.

        id: The installation's id.
        keep_records: Whether the records stay, as the tenant's own.
        """
        return self._call(UNINSTALL_PACK, locals())


class AsyncMarketplaceService(AsyncService):
    """The marketplace: signed packs of manifests, workflows, notifications and rules, and their installations in a tenant."""

    async def register_publisher_key(
        self,
        *,
        publisher: str,
        public_key: str,
        call: CallOptions | None = None,
    ) -> PublisherKey:
        """
        Registers a public key of a publisher. Packs of this publisher are trusted in the caller's tenant if this key signed them. The publishers of a tenant are its own: other tenants may use the same names.

        publisher: The publisher: lower-case letters, digits and single hyphens. Names that start with `switchyard` are reserved.
        public_key: The Ed25519 public key: 32 bytes as base64, or a PEM text.
        """
        return await self._call(REGISTER_PUBLISHER_KEY, locals())

    def list_publisher_keys(
        self,
        *,
        publisher: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[PublisherKey]:
        """
        Lists the publisher keys that the caller's tenant trusts or has revoked, built-in ones included.

        publisher: Only keys of this publisher.
        page: The page, from 1; default 1.
        per_page: The number of items per page, at most 100; default 20.
        """
        return self._list(LIST_PUBLISHER_KEYS, locals())

    async def revoke_publisher_key(
        self,
        *,
        id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> PublisherKey:
        """
        Revokes a publisher key permanently: nothing that it signed can be installed any more. Installations keep running.

        id: The id of the key.
        reason: Why it is revoked.
        """
        return await self._call(REVOKE_PUBLISHER_KEY, locals())

    def list_packs(
        self,
        *,
        query: str | None = None,
        kind: Literal["connector", "workflow", "notification", "rules"] | None = None,
        publisher: str | None = None,
        installed: bool | None = None,
        page: int | None = None,
        per_page: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Pack]:
        """
        Lists the packs that the caller's tenant can install, best match first, or by name without a query. Each pack is described by its newest version that is not yanked.

        query: Words to search for in names, titles, descriptions and tags.
        kind: Only this kind: connector, workflow, notification or rules.
        publisher: Only packs of this publisher.
        installed: Only packs that are installed, or only packs that are not.
        page: The page, from 1; default 1.
        per_page: The number of items per page, at most 100; default 20.
        """
        return self._list(LIST_PACKS, locals())

    async def get_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str | None = None,
        call: CallOptions | None = None,
    ) -> Pack:
        """
        Returns one version of a pack with its document, and a list of all versions.

        publisher: The publisher.
        name: The name.
        version: The version; empty for the newest that is not yanked.
        """
        return await self._call(GET_PACK, locals())

    async def publish_pack(
        self,
        *,
        pack: Mapping[str, Any],
        call: CallOptions | None = None,
    ) -> Pack:
        """
        Publishes a version of a pack in the caller's tenant. The pack must be signed with a registered key of its publisher. A version never changes: publishing the same document again has no effect.

        pack: The pack with digest, signature and key_id, as `service pack sign` writes it.
        """
        return await self._call(PUBLISH_PACK, locals())

    async def yank_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str,
        reason: str | None = None,
        deprecated_by: str | None = None,
        call: CallOptions | None = None,
    ) -> Pack:
        """
        Yanks a version of a pack: it can no longer be installed. Installations keep running. A yanked version stays readable.

        publisher: The publisher.
        name: The name.
        version: The version.
        reason: Why it is yanked.
        deprecated_by: The pack that replaces it, publisher/name; empty if there is none.
        """
        return await self._call(YANK_PACK, locals())

    async def export_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str,
        title: str,
        description: str | None = None,
        records: Sequence[ExportedRecord],
        call: CallOptions | None = None,
    ) -> ExportPackResponse:
        """
        Returns a pack made from records of the caller's tenant. It is not signed: sign it with `service pack sign`, then publish it. The private key never leaves its owner.

        publisher: The publisher.
        name: The name.
        version: The version, such as 1.0.0.
        title: The title for people.
        description: The description.
        records: The records, in the order in which they are installed. All must belong to the same kind of pack.
        """
        return await self._call(EXPORT_PACK, locals())

    async def preview_install(
        self,
        *,
        publisher: str,
        name: str,
        version: str | None = None,
        slots: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> InstallPlan:
        """
        Shows what installing a pack, or upgrading its installation, would create, change and delete, which conflicts it would have, and how its permissions differ. Nothing is stored.

        publisher: The publisher.
        name: The name.
        version: The version; empty for the newest that is not yanked.
        slots: The values of slots; for an upgrade, those that change.
        """
        return await self._call(PREVIEW_INSTALL, locals())

    async def install_pack(
        self,
        *,
        publisher: str,
        name: str,
        version: str | None = None,
        slots: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Installs a pack: all of its records are created, or none. The caller also needs the scopes to create each kind of record. A tenant has at most one installation of a pack.

        publisher: The publisher.
        name: The name.
        version: The version; empty for the newest that is not yanked.
        slots: The values of slots.
        """
        return await self._call(INSTALL_PACK, locals())

    def list_installations(
        self,
        *,
        kind: Literal["connector", "workflow", "notification", "rules"] | None = None,
        page: int | None = None,
        per_page: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Installation]:
        """
        Lists the installations of the caller's tenant, oldest first.

        kind: Only packs of this kind: connector, workflow, notification or rules.
        page: The page, from 1; default 1.
        per_page: The number of items per page, at most 100; default 20.
        """
        return self._list(LIST_INSTALLATIONS, locals())

    async def get_installation(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Returns one installation with its records and its latest changes.

        id: The installation's id.
        """
        return await self._call(GET_INSTALLATION, locals())

    async def upgrade_pack(
        self,
        *,
        id: str,
        version: str | None = None,
        slots: Mapping[str, Any] | None = None,
        on_conflict: Literal["refuse", "keep", "replace"] | None = None,
        accepted_permissions: PackPermissionsInput | None = None,
        call: CallOptions | None = None,
    ) -> UpgradePackResponse:
        """
        Upgrades an installation to a newer version. The tenant's own changes of the records are merged with the changes of the pack. Refused with PACK_CONFLICT if both changed the same value, and with PACK_CONSENT_REQUIRED if the new version needs permissions that the request does not accept.

        id: The installation's id.
        version: The version; empty for the newest that is not yanked. It must be newer than the installed one.
        slots: The values of slots that change. The others keep their values.
        on_conflict: What happens to values that both the tenant and the pack changed: refuse (default), keep (the tenant's value) or replace (the pack's value).
        accepted_permissions: Additional permissions that the caller accepts, as the preview shows them.
        """
        return await self._call(UPGRADE_PACK, locals())

    async def rollback_pack(
        self,
        *,
        id: str,
        discard_changes: bool | None = None,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Rolls the last upgrade of an installation back: its records are exactly as they were before. Refused if a record changed since, unless these changes are to be discarded.

        id: The installation's id.
        discard_changes: Whether changes that were made after the upgrade are lost. Without it they refuse the rollback.
        """
        return await self._call(ROLLBACK_PACK, locals())

    async def uninstall_pack(
        self,
        *,
        id: str,
        keep_records: bool | None = None,
        call: CallOptions | None = None,
    ) -> Installation:
        """
        Uninstalls a pack: deletes its records and forgets the installation. Refused with IN_USE while something else refers to one of the records, or while another installed pack requires this one.

        id: The installation's id.
        keep_records: Whether the records stay, as the tenant's own.
        """
        return await self._call(UNINSTALL_PACK, locals())
