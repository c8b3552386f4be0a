import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { JsonObject, RecordKind } from "../../../pack-records.ts";
import type { Pack } from "./pack.ts";

export type InstallationId = string & { readonly __id: "installation" };

/** The values of slots, by name. */
export type SlotValues = Readonly<Record<string, string | number>>;

/** A pack that is installed in a tenant. */
export interface Installation extends Stamps, Pick<Pack, "publisher" | "name" | "kind" | "version"> {
  readonly tenantId: TenantId;
  readonly id: InstallationId;
  readonly digest: string;
  /** The signed document that is installed. */
  readonly document: JsonObject;
  readonly slots: SlotValues;
  /** The change that led to this state. */
  readonly changeId: string;
}

/** A record that belongs to an installation. */
export interface InstalledRecord {
  readonly key: string;
  readonly kind: RecordKind;
  readonly recordId: string;
  /** Content that the pack wrote, in normal form. */
  readonly base: JsonObject;
}

/** An installation without its document. */
export type InstallationHead = Omit<Installation, "document">;

/** A record without the pack's content. */
export type RecordHead = Omit<InstalledRecord, "base">;

/** A change in the log of an installation. */
export interface InstallationChange {
  readonly id: string;
  readonly operation: "install" | "upgrade" | "rollback" | "uninstall";
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly actor: string;
  readonly createdAt: Date;
}

/** A record that an upgrade touched: its rows before and after. Null: it did not exist. */
export interface RecordImages extends Pick<InstalledRecord, "kind" | "recordId"> {
  readonly before: string | null;
  readonly after: string | null;
}

/** State that a rollback restores: the records, and the rows of the installation itself. */
export interface UpgradeImages {
  readonly records: readonly RecordImages[];
  readonly installation: string;
  readonly installationRecords: readonly string[];
}

/** Effect of an install or upgrade on one record. */
export interface PlannedChange extends Pick<InstalledRecord, "key" | "kind"> {
  /** keep: the tenant's own changes stay. */
  readonly action: "create" | "update" | "delete" | "keep" | "unchanged";
  /** Empty if the record does not exist yet. */
  readonly recordId: string;
  /** JSON Pointers. */
  readonly paths: readonly string[];
}

/** A value that both the tenant and the pack changed. */
export interface PackConflict extends Pick<InstalledRecord, "key" | "kind"> {
  /** A JSON Pointer; empty for the whole record. */
  readonly path: string;
  readonly reason: string;
}
