// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** The marketplace: signed packs of manifests, workflows, notifications and rules, and their installations in a tenant. */
export interface MarketplaceService {
  /** Registers a public key of a publisher. Packs of this publisher are trusted in the caller's tenant if this key signed them. The publishers of a tenant are its own: other tenants may use the same names. */
  registerPublisherKey(request: RegisterPublisherKeyRequest, options?: CallOptions): Promise<PublisherKey>;

  /** Lists the publisher keys that the caller's tenant trusts or has revoked, built-in ones included. */
  listPublisherKeys(request?: ListPublisherKeysRequest, options?: CallOptions): List<PublisherKey>;

  /** Revokes a publisher key permanently: nothing that it signed can be installed any more. Installations keep running. */
  revokePublisherKey(request: RevokePublisherKeyRequest, options?: CallOptions): Promise<PublisherKey>;

  /** Lists the packs that the caller's tenant can install, best match first, or by name without a query. Each pack is described by its newest version that is not yanked. */
  listPacks(request?: ListPacksRequest, options?: CallOptions): List<Pack>;

  /** Returns one version of a pack with its document, and a list of all versions. */
  getPack(request: GetPackRequest, options?: CallOptions): Promise<Pack>;

  /** Publishes a version of a pack in the caller's tenant. The pack must be signed with a registered key of its publisher. A version never changes: publishing the same document again has no effect. */
  publishPack(request: PublishPackRequest, options?: CallOptions): Promise<Pack>;

  /** Yanks a version of a pack: it can no longer be installed. Installations keep running. A yanked version stays readable. */
  yankPack(request: YankPackRequest, options?: CallOptions): Promise<Pack>;

  /** Returns a pack made from records of the caller's tenant. It is not signed: sign it with `service pack sign`, then publish it. The private key never leaves its owner. */
  exportPack(request: ExportPackRequest, options?: CallOptions): Promise<ExportPackResponse>;

  /** Shows what installing a pack, or upgrading its installation, would create, change and delete, which conflicts it would have, and how its permissions differ. Nothing is stored. */
  previewInstall(request: PreviewInstallRequest, options?: CallOptions): Promise<InstallPlan>;

  /** Installs a pack: all of its records are created, or none. The caller also needs the scopes to create each kind of record. A tenant has at most one installation of a pack. */
  installPack(request: InstallPackRequest, options?: CallOptions): Promise<Installation>;

  /** Lists the installations of the caller's tenant, oldest first. */
  listInstallations(request?: ListInstallationsRequest, options?: CallOptions): List<Installation>;

  /** Returns one installation with its records and its latest changes. */
  getInstallation(request: GetInstallationRequest, options?: CallOptions): Promise<Installation>;

  /** Upgrades an installation to a newer version. The tenant's own changes of the records are merged with the changes of the pack. Refused with PACK_CONFLICT if both changed the same value, and with PACK_CONSENT_REQUIRED if the new version needs permissions that the request does not accept. */
  upgradePack(request: UpgradePackRequest, options?: CallOptions): Promise<UpgradePackResponse>;

  /** Rolls the last upgrade of an installation back: its records are exactly as they were before. Refused if a record changed since, unless these changes are to be discarded. */
  rollbackPack(request: RollbackPackRequest, options?: CallOptions): Promise<Installation>;

  /** Uninstalls a pack: deletes its records and forgets the installation. Refused with IN_USE while something else refers to one of the records, or while another installed pack requires this one. */
  uninstallPack(request: UninstallPackRequest, options?: CallOptions): Promise<Installation>;
}

const marketplaceServiceOperations = {
  registerPublisherKey: { verb: "POST", path: "/api/v2/marketplace/publisher-keys", body: "*", keyed: true },
  listPublisherKeys: { verb: "GET", path: "/api/v2/marketplace/publisher-keys", result: "numbered" },
  revokePublisherKey: { verb: "POST", path: "/api/v2/marketplace/publisher-keys/{id}/revoke", body: "*", keyed: true },
  listPacks: { verb: "GET", path: "/api/v2/marketplace/packs", result: "numbered" },
  getPack: { verb: "GET", path: "/api/v2/marketplace/packs/{publisher}/{name}" },
  publishPack: { verb: "POST", path: "/api/v2/marketplace/packs", body: "*", keyed: true },
  yankPack: { verb: "POST", path: "/api/v2/marketplace/packs/{publisher}/{name}/versions/{version}/yank", body: "*", keyed: true },
  exportPack: { verb: "POST", path: "/api/v2/marketplace/packs:export", body: "*" },
  previewInstall: { verb: "POST", path: "/api/v2/marketplace/installations:preview", body: "*" },
  installPack: { verb: "POST", path: "/api/v2/marketplace/installations", body: "*", keyed: true },
  listInstallations: { verb: "GET", path: "/api/v2/marketplace/installations", result: "numbered" },
  getInstallation: { verb: "GET", path: "/api/v2/marketplace/installations/{id}" },
  upgradePack: { verb: "POST", path: "/api/v2/marketplace/installations/{id}/upgrade", body: "*", keyed: true },
  rollbackPack: { verb: "POST", path: "/api/v2/marketplace/installations/{id}/rollback", body: "*", keyed: true },
  uninstallPack: { verb: "POST", path: "/api/v2/marketplace/installations/{id}/uninstall", body: "*", keyed: true },
} as const satisfies Record<keyof MarketplaceService, Operation>;

/** Creates the service over a transport. */
export function createMarketplaceService(transport: Transport): MarketplaceService {
  return bindOperations<MarketplaceService>(transport, marketplaceServiceOperations);
}

/** A public key to trust. */
export type RegisterPublisherKeyRequest = {
  /** The publisher: lower-case letters, digits and single hyphens. Names that start with `switchyard` are reserved. */
  readonly publisher: string;
  /** The Ed25519 public key: 32 bytes as base64, or a PEM text. */
  readonly public_key: string;
};

/** A key that signs packs of a publisher. */
export type PublisherKey = {
  /** The id, which is derived from the key. */
  readonly id: string;
  /** The publisher. */
  readonly publisher: string;
  /** The Ed25519 public key, 32 bytes as base64. */
  readonly public_key: string;
  /** active or revoked. */
  readonly status: string;
  /** Whether it ships with the service. */
  readonly built_in: boolean;
  /** Why it was revoked. */
  readonly revoke_reason: string;
  /** When it was registered; absent for built-in keys. */
  readonly created_at?: string;
  /** When it was revoked, if ever. */
  readonly revoked_at?: string;
};

/** Request for a page of publisher keys. */
export type ListPublisherKeysRequest = {
  /** Only keys of this publisher. */
  readonly publisher?: string;
  /** The page, from 1; default 1. */
  readonly page?: number;
  /** The number of items per page, at most 100; default 20. */
  readonly per_page?: number;
};

/** Selects the key to revoke. */
export type RevokePublisherKeyRequest = {
  /** The id of the key. */
  readonly id: string;
  /** Why it is revoked. */
  readonly reason?: string;
};

/** A search for packs. */
export type ListPacksRequest = {
  /** Words to search for in names, titles, descriptions and tags. */
  readonly query?: string;
  /** Only this kind: connector, workflow, notification or rules. */
  readonly kind?: "connector" | "workflow" | "notification" | "rules";
  /** Only packs of this publisher. */
  readonly publisher?: string;
  /** Only packs that are installed, or only packs that are not. */
  readonly installed?: boolean;
  /** The page, from 1; default 1. */
  readonly page?: number;
  /** The number of items per page, at most 100; default 20. */
  readonly per_page?: number;
};

/** A pack as one of its versions describes it. */
export type Pack = {
  /** The publisher. */
  readonly publisher: string;
  /** The name, unique for its publisher. */
  readonly name: string;
  /** connector, workflow, notification or rules. */
  readonly kind: string;
  /** The version that the other fields describe. */
  readonly version: string;
  /** The title for people. */
  readonly title: string;
  /** The description. */
  readonly description: string;
  /** Words to search for. */
  readonly tags: readonly string[];
  /** What its records may do. */
  readonly permissions?: PackPermissions;
  /** The packs that must be installed before. */
  readonly requires: readonly PackRequirement[];
  /** What the installer provides. */
  readonly slots: readonly PackSlot[];
  /** The SHA-256 of the pack as canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** The key that signed it. */
  readonly key_id: string;
  /** Whether this version is yanked. */
  readonly yanked: boolean;
  /** The pack that replaces this one, publisher/name; empty if there is none. */
  readonly deprecated_by: string;
  /** Whether it ships with the service. */
  readonly built_in: boolean;
  /** The installation in the caller's tenant; empty if it is not installed. */
  readonly installation_id: string;
  /** The version that is installed; empty if it is not installed. */
  readonly installed_version: string;
  /** The whole document with digest and signature; absent in lists. */
  readonly document?: JsonObject;
  /** All versions, newest first; absent in lists. */
  readonly versions: readonly PackVersion[];
};

/** What the records of a pack may do. A pack whose records do more than it declares is refused. */
export type PackPermissions = {
  /** The hosts that connectors call. */
  readonly hosts: readonly string[];
  /** The OAuth scopes that connectors ask for. */
  readonly scopes: readonly string[];
  /** What happens when the records are used, such as `notify:email` or `workflow:route`. */
  readonly effects: readonly string[];
};

/** A pack that another one needs. */
export type PackRequirement = {
  /** The pack: publisher/name. */
  readonly pack: string;
  /** A range of versions, such as ^1.2.0. */
  readonly version: string;
};

/** A value that the installer of a pack provides. */
export type PackSlot = {
  /** The name. */
  readonly name: string;
  /** connection, pool, environment, text or number. */
  readonly kind: string;
  /** The title for people. */
  readonly title: string;
  /** What the value is used for. */
  readonly description: string;
  /** Whether a value must be given. */
  readonly required: boolean;
  /** The value if none is given; empty if there is none. */
  readonly default_value: string;
  /** The provider of a connection; empty for any. */
  readonly provider_key: string;
};

/** A version of a pack, without its document. */
export type PackVersion = {
  /** The version, such as 1.2.0. */
  readonly version: string;
  /** The SHA-256 of the pack as canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** The key that signed it. */
  readonly key_id: string;
  /** Whether it can no longer be installed. */
  readonly yanked: boolean;
  /** Why it was yanked. */
  readonly yank_reason: string;
  /** When it was published; absent for built-in packs. */
  readonly published_at?: string;
};

/** Identifies a version of a pack. */
export type GetPackRequest = {
  /** The publisher. */
  readonly publisher: string;
  /** The name. */
  readonly name: string;
  /** The version; empty for the newest that is not yanked. */
  readonly version?: string;
};

/** A signed pack. */
export type PublishPackRequest = {
  /** The pack with digest, signature and key_id, as `service pack sign` writes it. */
  readonly pack: object;
};

/** Selects the version to yank. */
export type YankPackRequest = {
  /** The publisher. */
  readonly publisher: string;
  /** The name. */
  readonly name: string;
  /** The version. */
  readonly version: string;
  /** Why it is yanked. */
  readonly reason?: string;
  /** The pack that replaces it, publisher/name; empty if there is none. */
  readonly deprecated_by?: string;
};

/** A record to export. */
export type ExportedRecord = {
  /** The kind: workflow_definition, workflow_trigger, layout, notification_workflow, pool, rule or manifest. */
  readonly kind: "workflow_definition" | "workflow_trigger" | "layout" | "notification_workflow" | "pool" | "rule" | "manifest";
  /** The id of the record, or its key. */
  readonly record: string;
};

/** Describes the pack to make. */
export type ExportPackRequest = {
  /** The publisher. */
  readonly publisher: string;
  /** The name. */
  readonly name: string;
  /** The version, such as 1.0.0. */
  readonly version: string;
  /** The title for people. */
  readonly title: string;
  /** The description. */
  readonly description?: string;
  /** The records, in the order in which they are installed. All must belong to the same kind of pack. */
  readonly records: readonly ExportedRecord[];
};

/** The exported pack. */
export type ExportPackResponse = {
  /** The pack with its digest, without a signature. */
  readonly pack?: JsonObject;
};

/** Names the pack to preview. If the tenant has it installed, the preview is that of an upgrade. */
export type PreviewInstallRequest = {
  /** The publisher. */
  readonly publisher: string;
  /** The name. */
  readonly name: string;
  /** The version; empty for the newest that is not yanked. */
  readonly version?: string;
  /** The values of slots; for an upgrade, those that change. */
  readonly slots?: object;
};

/** What an install or upgrade would do. */
export type InstallPlan = {
  /** The publisher of the pack. */
  readonly publisher: string;
  /** The name of the pack. */
  readonly name: string;
  /** The installed version; empty for an install. */
  readonly from_version: string;
  /** The version to install. */
  readonly to_version: string;
  /** The changes of records. */
  readonly changes: readonly PlannedChange[];
  /** Values that both the tenant and the pack changed. */
  readonly conflicts: readonly PackConflict[];
  /** Permissions that the version needs in addition. */
  readonly added_permissions?: PackPermissions;
  /** Permissions that the version no longer needs. */
  readonly removed_permissions?: PackPermissions;
  /** Required slots that have no value yet. */
  readonly missing_slots: readonly string[];
};

/** What an install or upgrade does to one record. */
export type PlannedChange = {
  /** The key of the record in the pack. */
  readonly key: string;
  /** The kind of the record. */
  readonly kind: string;
  /** create, update, delete, keep (the tenant's own changes stay) or unchanged. */
  readonly action: string;
  /** The id of the record; empty if it does not exist yet. */
  readonly record_id: string;
  /** What changes, as JSON Pointers. */
  readonly paths: readonly string[];
};

/** A value that both the tenant and the pack changed. */
export type PackConflict = {
  /** The key of the record in the pack. */
  readonly key: string;
  /** The kind of the record. */
  readonly kind: string;
  /** The value, as a JSON Pointer; empty for the whole record. */
  readonly path: string;
  /** What each side did. */
  readonly reason: string;
};

/** Names the pack to install. */
export type InstallPackRequest = {
  /** The publisher. */
  readonly publisher: string;
  /** The name. */
  readonly name: string;
  /** The version; empty for the newest that is not yanked. */
  readonly version?: string;
  /** The values of slots. */
  readonly slots?: object;
};

/** A pack that is installed in a tenant. */
export type Installation = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The publisher of the pack. */
  readonly publisher: string;
  /** The name of the pack. */
  readonly name: string;
  /** The kind of the pack. */
  readonly kind: string;
  /** The installed version. */
  readonly version: string;
  /** The digest of the installed version. */
  readonly digest: string;
  /** The values of the slots. */
  readonly slots?: JsonObject;
  /** The permissions that the tenant accepted. */
  readonly permissions?: PackPermissions;
  /** The records of the installation. */
  readonly records: readonly InstalledRecord[];
  /** Whether the last change is an upgrade, which can be rolled back. */
  readonly can_roll_back: boolean;
  /** The newest version that can be installed. */
  readonly available_version: string;
  /** The latest changes, newest first; absent in lists. */
  readonly changes: readonly InstallationChange[];
  /** When it was installed. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** A record that belongs to an installation. */
export type InstalledRecord = {
  /** The key of the record in the pack. */
  readonly key: string;
  /** The kind: manifest, workflow_definition, workflow_trigger, layout, notification_workflow, pool or rule. */
  readonly kind: string;
  /** The id of the record, or its key if records of the kind have no id. */
  readonly record_id: string;
};

/** A change of an installation. */
export type InstallationChange = {
  /** The id, a ULID. */
  readonly id: string;
  /** install, upgrade, rollback or uninstall. */
  readonly operation: string;
  /** The version before; empty for an install. */
  readonly from_version: string;
  /** The version after; empty for an uninstall. */
  readonly to_version: string;
  /** Who made the change. */
  readonly actor: string;
  /** When it was made. */
  readonly created_at?: string;
};

/** Request for a page of installations. */
export type ListInstallationsRequest = {
  /** Only packs of this kind: connector, workflow, notification or rules. */
  readonly kind?: "connector" | "workflow" | "notification" | "rules";
  /** The page, from 1; default 1. */
  readonly page?: number;
  /** The number of items per page, at most 100; default 20. */
  readonly per_page?: number;
};

/** Identifies an installation. */
export type GetInstallationRequest = {
  /** The installation's id. */
  readonly id: string;
};

/** What the records of a pack may do. A pack whose records do more than it declares is refused. */
export type PackPermissionsInput = {
  /** The hosts that connectors call. */
  readonly hosts?: readonly string[];
  /** The OAuth scopes that connectors ask for. */
  readonly scopes?: readonly string[];
  /** What happens when the records are used, such as `notify:email` or `workflow:route`. */
  readonly effects?: readonly string[];
};

/** Describes an upgrade. */
export type UpgradePackRequest = {
  /** The installation's id. */
  readonly id: string;
  /** The version; empty for the newest that is not yanked. It must be newer than the installed one. */
  readonly version?: string;
  /** The values of slots that change. The others keep their values. */
  readonly slots?: object;
  /** What happens to values that both the tenant and the pack changed: refuse (default), keep (the tenant's value) or replace (the pack's value). */
  readonly on_conflict?: "refuse" | "keep" | "replace";
  /** Additional permissions that the caller accepts, as the preview shows them. */
  readonly accepted_permissions?: PackPermissionsInput;
};

/** The result of an upgrade. */
export type UpgradePackResponse = {
  /** The installation. */
  readonly installation?: Installation;
  /** What was done. */
  readonly plan?: InstallPlan;
};

/** Selects the installation to roll back. */
export type RollbackPackRequest = {
  /** The installation's id. */
  readonly id: string;
  /** Whether changes that were made after the upgrade are lost. Without it they refuse the rollback. */
  readonly discard_changes?: boolean;
};

/** Selects the installation to remove. */
export type UninstallPackRequest = {
  /** The installation's id. */
  readonly id: string;
  /** Whether the records stay, as the tenant's own. */
  readonly keep_records?: boolean;
};
