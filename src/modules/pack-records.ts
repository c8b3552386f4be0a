import type { Context } from "../chain/call.ts";
import type { JsonObject } from "../platform/document/index.ts";

export type { JsonObject };

/** The kinds of records that packs contain. */
export type RecordKind =
  | "manifest"
  | "workflow_definition"
  | "workflow_trigger"
  | "layout"
  | "notification_workflow"
  | "pool"
  | "rule";

/** Permissions of records when they are used. */
export interface Permissions {
  /** Hosts that are called. */
  readonly hosts: readonly string[];
  /** OAuth scopes that are requested. */
  readonly scopes: readonly string[];
  /** Effects such as `notify:email` or `workflow:route`. */
  readonly effects: readonly string[];
}

/** Kinds of references by id or name in a content. */
export type ReferenceKind = "connection" | "environment" | "layout" | "pool" | "recipient" | "workflow_definition";

/** Returns the replacement of a reference. The provider of a connection is passed where it is known. */
export type ReplaceReference = (kind: ReferenceKind, value: string, providerKey?: string) => string;

/** Something outside of an installation that refers to one of its records. */
export interface RecordUse {
  /** The referring kind, such as `workflow definition`. */
  readonly what: string;
  readonly name: string;
}

/** A record as the marketplace compares it. */
export interface InstalledContent {
  /** In normal form. */
  readonly content: JsonObject;
  /** Why the content must not be changed now, such as an unpublished draft; undefined if it may be. */
  readonly held?: string | undefined;
}

/**
 * The records of one kind, as packs contain them. The module that owns the records implements it, so that packs follow all
 * rules that callers follow, and no other module writes its tables.
 *
 * content: a record as a request body of the API. normal form: the content with its defaults, in which equal records are
 * equal. image: the rows of a record as text, from which exactly the same rows can be restored.
 */
export interface PackRecords {
  readonly kind: RecordKind;
  /** The scopes that a caller needs to create, change and delete these records. */
  readonly scopes: readonly string[];
  /** The normal form of a content. Throws INVALID_ARGUMENT if it is invalid; fields in the failure start at the content. */
  normalize(content: JsonObject): JsonObject;
  /** Expects a content in normal form. */
  permissionsOf(content: JsonObject): Permissions;
  /**
   * Replaces the ids and names by which a content refers to other records. `replace` returns the new value, or throws if the
   * reference cannot be part of a pack.
   */
  mapReferences(content: JsonObject, replace: ReplaceReference): JsonObject;
  /** A record by its id, or by its name if it has one; undefined if there is none. Returns its id. */
  find(context: Context, idOrName: string): Promise<string | undefined>;
  read(context: Context, recordId: string): Promise<InstalledContent | undefined>;
  /** Creates a record of a pack (publisher/name); returns its id. Throws ALREADY_EXISTS if another record has its name. */
  create(context: Context, content: JsonObject, pack: string): Promise<string>;
  update(context: Context, recordId: string, content: JsonObject, pack: string): Promise<void>;
  remove(context: Context, recordId: string): Promise<void>;
  /** The names under which records of other areas refer to a record. */
  names(context: Context, recordId: string): Promise<readonly string[]>;
  /** Finds references to a record inside of the owning area. */
  uses(context: Context, recordId: string): Promise<readonly RecordUse[]>;
  /**
   * The image of a record before it is changed or deleted, or after a change; undefined if it does not exist. The image
   * before a deletion has everything that the deletion deletes.
   */
  image(context: Context, recordId: string, next: "change" | "delete"): Promise<string | undefined>;
  /** Restores a record from its image; undefined deletes it without a trace. */
  restore(context: Context, recordId: string, image: string | undefined): Promise<void>;
}

/** Finds records of an area that refer to a record of another area by one of its names. */
export type FindUses = (context: Context, kind: RecordKind, names: readonly string[]) => Promise<readonly RecordUse[]>;

export const noPermissions: Permissions = { hosts: [], scopes: [], effects: [] };
