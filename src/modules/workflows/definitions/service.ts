import { type Context, PrepareAgain } from "../../../chain/call.ts";
import { Failure, fail } from "../../../errors/index.ts";
import {
  lockFor,
  notFound,
  type RowImage,
  requireFound,
  unchangedRecord,
  updateRefusal,
} from "../../../platform/db/index.ts";
import { type DocumentViolation, toFieldViolations, Violations } from "../../../platform/document/index.ts";
import { formatText, type TextFormat, type TextReader } from "../../../platform/document-text/index.ts";
import { runInSlices } from "../../../platform/event-loop/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { toViolationFailure } from "../../../platform/protojson/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { checkInSlices } from "./domain/language/checks/check-definition.ts";
import { checkReferences, type DefinitionLookups } from "./domain/language/checks/check-references.ts";
import { worstCaseSteps } from "./domain/language/checks/step-count.ts";
import type { Definition, JsonObject } from "./domain/language/definition.ts";
import { type DefinitionDiff, diffDefinitions } from "./domain/language/diff.ts";
import { callsOf } from "./domain/language/references.ts";
import { parseDefinition } from "./domain/language/syntax/parse-definition.ts";
import {
  copyKeys,
  type DefinitionHead,
  type DefinitionId,
  type Draft,
  definitionsMax,
  digestOf,
  readDraft,
  type VersionHead,
  versionsMax,
  type WorkflowDefinition,
} from "./domain/workflow-definition.ts";
import { type ReferenceSources, readLookups } from "./reference-reader.ts";
import { definitionStore } from "./store.ts";

export interface DefinitionParts extends Pick<PlatformServices, "changes" | "shares">, ReferenceSources {
  readonly events: EventRecorder;
  readonly texts: TextReader;
}

/** A version of a definition: its number, its draft or its active version. */
export type VersionChoice = number | "draft" | "active";

/** A document, and the text that somebody wrote; empty if there is none. */
export interface DefinitionText {
  readonly document: JsonObject;
  readonly text: string;
}

/** The result of checking a document. */
export interface ValidationReport {
  readonly violations: readonly DocumentViolation[];
  /** Empty if there are violations. */
  readonly digest: string;
  /** 0 if there are violations. */
  readonly worstCaseSteps: number;
}

/** A draft that was checked before it is published. */
export interface CheckedDraft {
  readonly id: DefinitionId;
  readonly digest: string;
  /** Undefined if the draft was already published. */
  readonly definition: Definition | undefined;
}

/** The result of publishing. */
export interface Publication {
  readonly definition: DefinitionHead;
  readonly version: VersionHead;
  /** Whether the draft equals the version that was active before. */
  readonly unchanged: boolean;
}

const callersShownMax = 100;
const noActiveVersion = { version: 0, digest: "" };

/** The use cases of workflow definitions. */
export type DefinitionService = ReturnType<typeof createDefinitionService>;

export function createDefinitionService({ events, changes, shares, texts, ...sources }: DefinitionParts) {
  async function getDefinition({ sql, tenantId }: Context, idOrKey: string): Promise<WorkflowDefinition> {
    return requireFound(await definitionStore(sql).find(tenantId, idOrKey), "workflow definition");
  }

  async function getHead({ sql, tenantId }: Context, idOrKey: string): Promise<DefinitionHead> {
    return requireFound(await definitionStore(sql).findHead(tenantId, idOrKey), "workflow definition");
  }

  async function getVersion(context: Context, idOrKey: string, choice: number | "active") {
    const { sql, tenantId } = context;
    const definition = await getHead(context, idOrKey);
    const number = choice === "active" ? definition.activeVersion : choice;
    const version = await definitionStore(sql).findVersion(tenantId, definition.id, number);
    if (version === undefined) throw noVersion(definition, choice);
    return { definition, version };
  }

  /** A draft or version, with the text that a draft was imported from. */
  async function getText(context: Context, idOrKey: string, choice: VersionChoice): Promise<DefinitionText> {
    if (choice !== "draft")
      return { document: (await getVersion(context, idOrKey, choice)).version.document, text: "" };
    const { draft, draftText } = await getDefinition(context, idOrKey);
    return { document: draft, text: draftText };
  }

  /** The document of a draft or version. */
  async function getDocument(context: Context, idOrKey: string, choice: VersionChoice): Promise<JsonObject> {
    return (await getText(context, idOrKey, choice)).document;
  }

  /** Checks a definition in slices of the event loop, because a large one has many expressions to compile. */
  async function check(
    { tenantId }: Context,
    definition: Definition,
    lookups: DefinitionLookups,
  ): Promise<readonly DocumentViolation[]> {
    return runInSlices(checkInSlices(definition, lookups), shares.forCall(tenantId));
  }

  /** Parses and checks a draft, or throws what is wrong with it. */
  async function requirePublishable(context: Context, draft: JsonObject): Promise<Definition> {
    const { definition, violations } = parseDefinition(draft);
    if (definition === undefined) throw draftFailure(violations);
    const lookups = await readLookups(context.sql, context.tenantId, definition, sources);
    const problems = await check(context, definition, lookups);
    if (problems.length > 0) throw draftFailure(problems);
    return definition;
  }

  /** Inserts a definition. The caller holds the tenant's lock. */
  async function add(context: Context, draft: Draft, copyOf?: DefinitionId): Promise<WorkflowDefinition> {
    const { sql, tenantId, principal, nowMs } = context;
    const store = definitionStore(sql);
    const existing = await store.findHead(tenantId, draft.key);
    if (existing !== undefined) {
      throw fail("ALREADY_EXISTS", {
        public: `The workflow definition ${existing.id} has the key ${draft.key}: change its draft, or choose another key.`,
      });
    }
    if ((await store.count(tenantId)) >= definitionsMax) {
      throw fail("FAILED_PRECONDITION", {
        public: `A tenant may have at most ${definitionsMax} workflow definitions; archive one first.`,
      });
    }
    const definition = await store.insert(tenantId, ulid(nowMs) as DefinitionId, draft, principal.subject, nowMs);
    const data = { key: definition.key, ...(copyOf !== undefined && { copy_of: copyOf }) };
    await events.record(context, "workflow.definition.created", definition.id, data);
    await changes.invalidate(context);
    return definition;
  }

  async function replaceDraft(
    context: Context,
    current: WorkflowDefinition,
    draft: Draft,
    expectedVersion: number | undefined,
  ): Promise<WorkflowDefinition> {
    const { sql, tenantId, principal, nowMs } = context;
    if (current.status === "archived") throw archivedFailure();
    const isSameText = draft.text === undefined || draft.text === current.draftText;
    if (draft.digest === current.draftDigest && isSameText) {
      return unchangedRecord(current, expectedVersion, "workflow definition");
    }
    const store = definitionStore(sql);
    const updated = await store.updateDraft(
      tenantId,
      current.id,
      draft,
      principal.subject,
      expectedVersion,
      new Date(nowMs),
    );
    if (updated === undefined) {
      const now = await store.findHead(tenantId, current.id);
      if (now?.status === "archived") throw archivedFailure();
      throw updateRefusal(now, "workflow definition");
    }
    await events.record(context, "workflow.definition.updated", updated.id, { key: updated.key });
    return updated;
  }

  return {
    getDefinition,
    getHead,
    getVersion,
    getDocument,
    getText,

    async createDefinition(context: Context, document: JsonObject): Promise<WorkflowDefinition> {
      const draft = requireDraft(document, "document");
      await lockFor(context.sql, "workflow_definitions", context.tenantId);
      return add(context, draft);
    },

    /** Replaces the draft if the expected version is current. */
    async updateDraft(
      context: Context,
      idOrKey: string,
      document: JsonObject,
      expectedVersion: number | undefined,
    ): Promise<WorkflowDefinition> {
      const draft = requireDraft(document, "document");
      const current = await getDefinition(context, idOrKey);
      if (draft.key !== current.key) {
        const message = `must stay "${current.key}": duplicate the definition to use another key`;
        throw toViolationFailure([{ field: "document.key", rule: "key", message }]);
      }
      return replaceDraft(context, current, draft, expectedVersion);
    },

    /** Checks the draft before the transaction that publishes it, because the check of a large one takes a while. */
    async prepareDraft(context: Context, idOrKey: string, expectedVersion: number | undefined): Promise<CheckedDraft> {
      const current = unchangedRecord(await getDefinition(context, idOrKey), expectedVersion, "workflow definition");
      if (current.status === "archived") throw archivedFailure();
      const { id, draft, draftDigest: digest } = current;
      return { id, digest, definition: isPublished(current) ? undefined : await requirePublishable(context, draft) };
    },

    /** Publishes a checked draft as the next version. A staged version is not activated. */
    async publishDraft(
      context: Context,
      { id, digest, definition }: CheckedDraft,
      message: string,
      expectedVersion: number | undefined,
      stage = false,
    ): Promise<Publication> {
      const { sql, tenantId, nowMs, principal } = context;
      const store = definitionStore(sql);
      await lockFor(sql, "workflow_definitions", tenantId);
      const current = unchangedRecord(await store.lockRow(tenantId, id), expectedVersion, "workflow definition");
      if (current.status === "archived") throw archivedFailure();
      if (isPublished(current)) return unchanged(context, current, current.activeVersion);
      const last = await store.findVersionHead(tenantId, id, current.lastVersion);
      if (stage && last?.digest === current.draftDigest) return unchanged(context, current, last.version);
      if (definition === undefined || current.draftDigest !== digest) throw new PrepareAgain();
      // Other definitions may have changed since the check.
      const lookups = await readLookups(sql, tenantId, definition, sources);
      const violations = new Violations();
      checkReferences(definition, lookups, violations);
      if (violations.list.length > 0) throw draftFailure(violations.list);
      if (current.lastVersion >= versionsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A workflow definition may have at most ${versionsMax} versions; duplicate it and publish the copy.`,
        });
      }
      const version = await store.insertVersion({
        tenantId,
        definitionId: current.id,
        version: (await store.lastVersion(current)) + 1,
        document: current.draft,
        digest: current.draftDigest,
        calls: callsOf(definition),
        message,
        publishedBy: principal.subject,
        authors: [...new Set([...current.draftAuthors, principal.subject])],
        publishedAt: new Date(nowMs),
      });
      const published = stage
        ? (await store.findHead(tenantId, current.id))!
        : await store.activate(tenantId, current.id, version, new Date(nowMs));
      const data = { key: published.key, version: version.version, digest: version.digest };
      const type = stage ? "workflow.definition.staged" : "workflow.definition.published";
      await events.record(context, type, published.id, data);
      await changes.invalidate(context);
      return { definition: published, version, unchanged: false };
    },

    /** Checks and publishes a draft in the transaction of the caller, which makes other changes too. */
    async publishNow(context: Context, id: DefinitionId, message: string): Promise<Publication> {
      const store = definitionStore(context.sql);
      // With these locks the draft cannot change between the check and the publication.
      await lockFor(context.sql, "workflow_definitions", context.tenantId);
      await store.lockRow(context.tenantId, id);
      return this.publishDraft(context, await this.prepareDraft(context, id, undefined), message, undefined);
    },

    /** Activates a version of a definition that the caller has locked. Version 0 makes none active. */
    async activateVersion(context: Context, id: DefinitionId, version: number): Promise<void> {
      const { sql, tenantId, nowMs } = context;
      const store = definitionStore(sql);
      const wanted = requireFound(
        version === 0 ? noActiveVersion : await store.findVersionHead(tenantId, id, version),
        "workflow version",
      );
      const { key } = await store.activate(tenantId, id, wanted, new Date(nowMs));
      await events.record(context, "workflow.definition.activated", id, { key, version, digest: wanted.digest });
      await changes.invalidate(context);
    },

    /** Why a version cannot be activated; empty if it can be. */
    async problemsOf(context: Context, id: DefinitionId, version: number): Promise<readonly string[]> {
      try {
        await requirePublishable(context, await getDocument(context, id, version));
        return [];
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return [error.message];
      }
    },

    /**
     * Restores the row of a definition and withdraws the versions that it did not have; undefined deletes the definition.
     * Runs that started on a withdrawn version finish on it.
     */
    async restoreDefinition(context: Context, id: DefinitionId, image: RowImage | undefined): Promise<void> {
      const { sql, tenantId, nowMs } = context;
      const store = definitionStore(sql);
      await lockFor(sql, "workflow_definitions", tenantId);
      const current = await store.lockRow(tenantId, id);
      const activeVersion = image === undefined ? 0 : (JSON.parse(image) as { active_version: number }).active_version;
      if (current !== undefined) await store.withdrawVersions(current, activeVersion, new Date(nowMs));
      await store.replaceRow(tenantId, id, image);
      await changes.invalidate(context);
    },

    /** Copies a draft or version into a new definition. Without a key, a free one is chosen. */
    async duplicateDefinition(
      context: Context,
      idOrKey: string,
      key: string,
      choice: VersionChoice,
    ): Promise<WorkflowDefinition> {
      const { sql, tenantId } = context;
      const original = await getHead(context, idOrKey);
      const document = await getDocument(context, original.id, choice);
      await lockFor(sql, "workflow_definitions", tenantId);
      const free = key === "" ? await freeKey(context, original.key) : key;
      return add(context, requireDraft({ ...document, key: free }, "document"), original.id);
    },

    /** Archives a definition that no active version of another one runs. */
    async archiveDefinition(context: Context, idOrKey: string): Promise<WorkflowDefinition> {
      const { sql, tenantId, nowMs } = context;
      const store = definitionStore(sql);
      const { id } = await getHead(context, idOrKey);
      await lockFor(sql, "workflow_definitions", tenantId);
      const definition = requireFound(await store.lockRow(tenantId, id), "workflow definition");
      if (definition.status === "archived") return definition;
      const callers = await store.callers(tenantId, definition.key, callersShownMax);
      if (callers.length > 0) {
        const shown = callers.slice(0, 5).join(", ");
        throw fail("IN_USE", {
          public: `Other workflow definitions run this one: ${shown}${callers.length > 5 ? " and others" : ""}.`,
          extra: { workflow_definition_keys: callers },
        });
      }
      const archived = await store.archive(definition, new Date(nowMs));
      const data = { key: archived.key, version: archived.activeVersion };
      await events.record(context, "workflow.definition.archived", id, data);
      await changes.invalidate(context);
      return archived;
    },

    /** Checks a document like publishing does. */
    async validateDocument(context: Context, document: unknown): Promise<ValidationReport> {
      const { definition, violations } = parseDefinition(document);
      if (definition === undefined) return { violations, digest: "", worstCaseSteps: 0 };
      const lookups = await readLookups(context.sql, context.tenantId, definition, sources);
      const problems = await check(context, definition, lookups);
      if (problems.length > 0) return { violations: problems, digest: "", worstCaseSteps: 0 };
      return { violations: [], digest: digestOf(document as JsonObject), worstCaseSteps: worstCaseSteps(definition) };
    },

    /** Reads a text as a document, which may break every rule, and finds the places of what is wrong with it. */
    ...texts,

    async readDraftText(text: string, format: TextFormat): Promise<Draft> {
      const draft = requireDraft(await texts.readText(text, format), "text");
      // A text that says no more than its document is not kept.
      return { ...draft, text: text === formatText(draft.document, format) ? "" : text };
    },

    /** Creates the definition that a draft names, or replaces its draft. */
    async importDraft(
      context: Context,
      draft: Draft,
      expectedVersion: number | undefined,
    ): Promise<{ definition: WorkflowDefinition; created: boolean; unchanged: boolean }> {
      const { sql, tenantId } = context;
      const store = definitionStore(sql);
      await lockFor(sql, "workflow_definitions", tenantId);
      const current = await store.find(tenantId, draft.key);
      if (current === undefined) {
        if (expectedVersion !== undefined) throw notFound("workflow definition");
        return { definition: await add(context, draft), created: true, unchanged: false };
      }
      const definition = await replaceDraft(context, current, draft, expectedVersion);
      return { definition, created: false, unchanged: definition.recordVersion === current.recordVersion };
    },

    async diffVersions(
      context: Context,
      idOrKey: string,
      from: VersionChoice,
      to: VersionChoice,
    ): Promise<DefinitionDiff> {
      const before = await getDocument(context, idOrKey, from);
      const after = await getDocument(context, idOrKey, to);
      return diffDefinitions(before, after);
    },
  };

  async function unchanged(
    { sql, tenantId }: Context,
    definition: DefinitionHead,
    number: number,
  ): Promise<Publication> {
    const version = await definitionStore(sql).findVersionHead(tenantId, definition.id, number);
    return { definition, version: version!, unchanged: true };
  }

  async function freeKey({ sql, tenantId }: Context, key: string): Promise<string> {
    const keys = copyKeys(key);
    const taken = await definitionStore(sql).takenKeys(tenantId, keys);
    const free = keys.find((each) => !taken.has(each));
    if (free === undefined) {
      throw fail("ALREADY_EXISTS", { public: "All keys for a copy of this definition are taken; name a key." });
    }
    return free;
  }
}

/** Whether the draft equals the active version. */
function isPublished({ activeVersion, activeDigest, draftDigest }: DefinitionHead): boolean {
  return activeVersion > 0 && activeDigest === draftDigest;
}

function requireDraft(document: unknown, field: string): Draft {
  const draft = readDraft(document);
  if (!("violations" in draft)) return draft;
  const { violations, repairs } = toFieldViolations(draft.violations, field);
  throw toViolationFailure(violations, { repairs });
}

/** The failure to publish a draft, with everything that must be corrected. */
function draftFailure(violations: readonly DocumentViolation[]) {
  const { violations: fields } = toFieldViolations(violations, "draft");
  const { message } = toViolationFailure(fields);
  return fail("FAILED_PRECONDITION", { public: `The draft cannot be published: ${message}`, violations: fields });
}

function archivedFailure() {
  return fail("FAILED_PRECONDITION", {
    public: "The workflow definition is archived: duplicate it and change the copy.",
  });
}

function noVersion({ lastVersion }: DefinitionHead, choice: number | "active") {
  const known = lastVersion === 0 ? "it was never published" : `its versions are 1 to ${lastVersion}`;
  const wanted = choice === "active" ? "active version" : `version ${choice}`;
  return fail("NOT_FOUND", { public: `The workflow definition has no ${wanted}: ${known}.` });
}
