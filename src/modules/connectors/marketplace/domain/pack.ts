import type { JsonObject, Permissions, RecordKind } from "../../../pack-records.ts";

/** The purpose of a pack and of all its records. */
export type PackKind = "connector" | "workflow" | "notification" | "rules";

export type SlotKind = "connection" | "pool" | "environment" | "text" | "number";

/** A value that the installer provides. */
export interface Slot {
  readonly name: string;
  readonly kind: SlotKind;
  readonly title: string;
  readonly description: string;
  /** Whether a value must be given. A slot that is not required has a default. */
  readonly required: boolean;
  readonly defaultValue: string | number | undefined;
  /** The provider of a connection; empty for any. */
  readonly providerKey: string;
}

/** A record of a pack. */
export interface PackEntry {
  /** Identifies the record in all versions of the pack. */
  readonly key: string;
  readonly record: RecordKind;
  /** The body of the request that creates the record, with placeholders. */
  readonly content: JsonObject;
}

/** A pack that must be installed before. */
export interface Requirement {
  /** publisher/name */
  readonly pack: string;
  /** A range of versions. */
  readonly version: string;
}

/** A pack: the part that is signed. */
export interface Pack {
  readonly publisher: string;
  readonly name: string;
  readonly kind: PackKind;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly requires: readonly Requirement[];
  readonly permissions: Permissions;
  readonly slots: readonly Slot[];
  readonly contents: readonly PackEntry[];
  /** The pack that replaces this one; empty if there is none. */
  readonly deprecatedBy: string;
}

/** A pack with its document and signature. */
export interface SignedPack {
  readonly pack: Pack;
  /** The signed part as it was written. */
  readonly document: JsonObject;
  readonly digest: string;
  readonly signature: string;
  readonly keyId: string;
}

/** The type of the signed statement. */
export const packStatementType = "application/vnd.switchyard.pack.v1+json";

/** The kinds of records that each kind of pack contains. */
export const recordKindsOf: Readonly<Record<PackKind, readonly RecordKind[]>> = {
  connector: ["manifest"],
  workflow: ["workflow_definition", "workflow_trigger"],
  notification: ["layout", "notification_workflow"],
  rules: ["pool", "rule"],
};

export function packName({ publisher, name }: Pick<Pack, "publisher" | "name">): string {
  return `${publisher}/${name}`;
}
