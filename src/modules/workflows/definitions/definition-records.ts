import { type Failure, fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { readRowImages, type Sql } from "../../../platform/db/index.ts";
import { isJsonObject, type Json, type JsonObject, memberPath } from "../../../platform/document/index.ts";
import type { FindUses, PackRecords } from "../../pack-records.ts";
import { providerOf, referencesOf } from "./domain/language/references.ts";
import { stepsOf } from "./domain/language/step-tree.ts";
import { parseDefinition } from "./domain/language/syntax/parse-definition.ts";
import type { DefinitionId } from "./domain/workflow-definition.ts";
import type { DefinitionService } from "./service.ts";
import { definitionStore } from "./store.ts";

/** Finds the names of triggers that start one of these definitions. */
export type FindTriggers = (sql: Sql, tenantId: TenantId, definitions: readonly string[]) => Promise<readonly string[]>;

const callersMax = 100;

/** Workflow definitions as packs contain them: their documents. A definition of a pack is always published. */
export function createDefinitionRecords(service: DefinitionService, findTriggers: FindTriggers): PackRecords {
  const table = "workflow_definitions";
  return {
    kind: "workflow_definition",
    scopes: ["workflow_definition:write"],

    normalize(content) {
      requireParsable(content);
      return content;
    },

    permissionsOf(content) {
      const effects = new Set<string>();
      for (const { step } of stepsOf(requireParsable(content))) {
        effects.add(step.work.kind);
        if (step.compensate !== undefined) effects.add(step.compensate.work.kind);
      }
      const outward = [...effects].filter((kind) => outwardKinds.has(kind));
      return { hosts: [], scopes: [], effects: outward.map((kind) => `workflow:${kind}`).sort() };
    },

    mapReferences(content, replace) {
      const { pools, connections } = referencesOf(requireParsable(content));
      const replacements = new Map([
        ...pools.map(({ path, target }) => [path, replace("pool", target)] as const),
        ...connections.map(
          ({ path, target: { id, providerKey } }) => [path, replace("connection", id, providerKey)] as const,
        ),
      ]);
      return replaceAt(content, "", replacements) as JsonObject;
    },

    async find({ sql, tenantId }, idOrName) {
      const head = await definitionStore(sql).findHead(tenantId, idOrName);
      return head?.status === "archived" ? undefined : head?.id;
    },

    async read({ sql, tenantId }, recordId) {
      const definition = await definitionStore(sql).find(tenantId, recordId);
      if (definition === undefined || definition.status === "archived") return undefined;
      const isPublished = definition.draftDigest === definition.activeDigest;
      return { content: definition.draft, held: isPublished ? undefined : "its draft is not published" };
    },

    async create(context, content) {
      const { id } = await service.createDefinition(context, content);
      await service.publishNow(context, id, publishMessage);
      return id;
    },

    async update(context, recordId, content) {
      await service.updateDraft(context, recordId, content, undefined);
      await service.publishNow(context, recordId as DefinitionId, publishMessage);
    },

    async remove(context, recordId) {
      await service.archiveDefinition(context, recordId);
    },

    async names({ sql, tenantId }, recordId) {
      const head = await definitionStore(sql).findHead(tenantId, recordId);
      return head === undefined ? [] : [head.id, head.key];
    },

    async uses({ sql, tenantId }, recordId) {
      const store = definitionStore(sql);
      const head = await store.findHead(tenantId, recordId);
      if (head === undefined) return [];
      const callers = await store.callers(tenantId, head.key, callersMax);
      const triggers = await findTriggers(sql, tenantId, [head.id, head.key]);
      return [
        ...callers.map((name) => ({ what: "workflow definition", name })),
        ...triggers.map((name) => ({ what: "workflow trigger", name })),
      ];
    },

    async image({ sql, tenantId }, recordId) {
      const [image] = await readRowImages(sql, table, sql`tenant_id = ${tenantId} and id = ${recordId}`);
      return image;
    },

    async restore(context, recordId, image) {
      await service.restoreDefinition(context, recordId as DefinitionId, image);
    },
  };
}

/** Finds the definitions whose active version refers to a record of another area. */
export const findDefinitionUses: FindUses = async (context, kind, names) => {
  const wanted = new Set(names);
  const uses: { what: string; name: string }[] = [];
  if (kind !== "pool" && kind !== "notification_workflow" && kind !== "manifest") return uses;
  for await (const document of definitionStore(context.sql).activeDocuments(context.tenantId)) {
    const { definition } = parseDefinition(document);
    if (definition === undefined) continue;
    const { pools, notificationWorkflows, actions } = referencesOf(definition);
    const referred = {
      pool: pools.map(({ target }) => target),
      notification_workflow: notificationWorkflows.map(({ target }) => target),
      manifest: actions.map(({ target }) => providerOf(target)),
    };
    if (referred[kind].some((name) => wanted.has(name))) {
      uses.push({ what: "workflow definition", name: definition.key });
    }
  }
  return uses;
};

const publishMessage = "Installed from a pack";

/** The kinds of steps that reach beyond the run. */
const outwardKinds: ReadonlySet<string> = new Set(["task", "route", "notify", "subworkflow", "approval", "action"]);

/** Replaces the values at some paths of a document. */
function replaceAt(value: Json, path: string, replacements: ReadonlyMap<string, string>): Json {
  const replacement = replacements.get(path);
  if (replacement !== undefined) return replacement;
  if (Array.isArray(value)) return value.map((element, at) => replaceAt(element, `${path}[${at}]`, replacements));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    replaceAt(member, memberPath(path, name), replacements),
  ]);
  return Object.fromEntries(members);
}

function requireParsable(content: JsonObject) {
  const { definition, violations } = parseDefinition(content);
  if (definition === undefined) throw invalidDocument(violations);
  return definition;
}

function invalidDocument(violations: readonly { path: string; rule: string; message: string }[]): Failure {
  const fields = violations.map(({ path, rule, message }) => ({ field: path || "document", rule, message }));
  const [first] = fields;
  return fail("INVALID_ARGUMENT", { public: `${first!.field}: ${first!.message}`, violations: fields });
}
