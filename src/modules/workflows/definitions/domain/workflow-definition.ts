import { createHash } from "node:crypto";
import type { TenantId } from "../../../../platform/access/index.ts";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import { checkDocumentSize, type DocumentViolation, Violations } from "../../../../platform/document/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Json, JsonObject } from "./language/definition.ts";
import { documentLimits, formats } from "./language/limits.ts";
import type { SubworkflowCall } from "./language/references.ts";

export type DefinitionId = string & { readonly __id: "workflow_definition" };

/** draft: never published. published: has an active version. archived: starts no new runs. */
export type DefinitionStatus = "draft" | "published" | "archived";

/** A definition without its draft. */
export interface DefinitionHead extends Stamps {
  readonly tenantId: TenantId;
  readonly id: DefinitionId;
  readonly key: string;
  readonly name: string;
  readonly status: DefinitionStatus;
  readonly draftDigest: string;
  /** The subjects of the callers that changed the draft since the last version of it. */
  readonly draftAuthors: readonly string[];
  /** 0 before the first version. */
  readonly activeVersion: number;
  readonly activeDigest: string;
  /** The newest version; it is not active if it was staged, or if a promotion was rolled back. 0 before the first version. */
  readonly lastVersion: number;
}

export interface WorkflowDefinition extends DefinitionHead {
  readonly draft: JsonObject;
  /** The text that the draft was imported from; empty if it came as a document. */
  readonly draftText: string;
}

/**
 * active: new runs use it. superseded: a newer one is active. staged: an older one is active, or none. retired: it was active
 * when its definition was archived.
 */
export type VersionStatus = "active" | "superseded" | "staged" | "retired";

/** A published version without its document. */
export interface VersionHead {
  readonly tenantId: TenantId;
  readonly definitionId: DefinitionId;
  readonly version: number;
  readonly digest: string;
  readonly message: string;
  readonly publishedBy: string;
  /** The subjects of the callers that wrote or published it. */
  readonly authors: readonly string[];
  readonly publishedAt: Date;
}

/** A published version. It never changes. */
export interface DefinitionVersion extends VersionHead {
  readonly document: JsonObject;
}

/** A version to insert. */
export interface NewVersion extends DefinitionVersion {
  readonly calls: readonly SubworkflowCall[];
}

/** How many definitions that are not archived a tenant may have. */
export const definitionsMax = 1000;
/** How many versions a definition may have. */
export const versionsMax = 1000;

/** The state of a version, which follows from its definition. */
export function versionStatus(
  { status, activeVersion }: Pick<DefinitionHead, "status" | "activeVersion">,
  version: number,
): VersionStatus {
  if (version !== activeVersion) return version > activeVersion ? "staged" : "superseded";
  return status === "archived" ? "retired" : "active";
}

/** The SHA-256 of a document as canonical JSON, in hexadecimal. */
export function digestOf(document: Json): string {
  return createHash("sha256").update(canonicalJson(document)).digest("hex");
}

/** A document that can be stored as a draft. */
export interface Draft {
  readonly document: JsonObject;
  readonly key: string;
  readonly name: string;
  readonly digest: string;
  /** The text that it was read from; empty if it says no more than the document, undefined if the draft came as a document. */
  readonly text: string | undefined;
}

/** Reads a draft. It may be unfinished, but it must have a size that can be stored and a valid key. */
export function readDraft(document: unknown): Draft | { readonly violations: readonly DocumentViolation[] } {
  const violations = new Violations();
  if (!checkDocumentSize(document, violations, documentLimits)) return { violations: violations.list };
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    violations.add("", "type", 'must be an object, for example {"dsl": "1", "key": "lead.onboard"}');
    return { violations: violations.list };
  }
  const draft = document as JsonObject;
  const key = Object.hasOwn(draft, "key") ? draft.key : undefined;
  if (typeof key !== "string" || key.length > formats.key.lengthMax || !formats.key.pattern.test(key)) {
    violations.add("key", "pattern", formats.key.description);
    return { violations: violations.list };
  }
  const name = Object.hasOwn(draft, "name") && typeof draft.name === "string" ? draft.name : "";
  return { document: draft, key, name: name.slice(0, 200), digest: digestOf(draft), text: undefined };
}

/** Keys for a copy of a definition, in order of preference. */
export function copyKeys(key: string): readonly string[] {
  const suffixes = ["-copy", ...Array.from({ length: 98 }, (_, at) => `-copy-${at + 2}`)];
  return suffixes.map((suffix) => `${shortened(key, formats.key.lengthMax - suffix.length)}${suffix}`);
}

function shortened(key: string, length: number): string {
  return key.slice(0, length).replace(/[._-]$/, "");
}
