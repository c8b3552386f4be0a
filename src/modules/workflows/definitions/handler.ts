import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ArchiveWorkflowDefinitionResponseSchema,
  CreateWorkflowDefinitionResponseSchema,
  DiffWorkflowDefinitionResponseSchema,
  DuplicateWorkflowDefinitionResponseSchema,
  ExportWorkflowDefinitionResponseSchema,
  GetWorkflowDefinitionResponseSchema,
  GetWorkflowDefinitionSchemaResponseSchema,
  GetWorkflowDefinitionVersionResponseSchema,
  type ImportWorkflowDefinitionRequest,
  ImportWorkflowDefinitionResponseSchema,
  ListWorkflowDefinitionsResponseSchema,
  ListWorkflowDefinitionVersionsResponseSchema,
  type PublishWorkflowDefinitionRequest,
  PublishWorkflowDefinitionResponseSchema,
  type WorkflowDefinitionService as Rpc,
  WorkflowDefinition_Status as Status,
  UpdateWorkflowDefinitionDraftResponseSchema,
  type ValidateWorkflowDefinitionRequest,
  ValidateWorkflowDefinitionResponseSchema,
  WorkflowDefinitionVersion_Status as VersionStatus,
  type WorkflowDefinition as WorkflowDefinitionMessage,
  WorkflowDefinitionSchema,
  type WorkflowDefinitionVersion as WorkflowDefinitionVersionMessage,
  WorkflowDefinitionVersionSchema,
} from "../../../../gen/service/api/workflow_definition_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { formatText, type TextFormat } from "../../../platform/document-text/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, nameOf, stampFields } from "../../../platform/records/index.ts";
import type { JsonObject } from "./domain/language/definition.ts";
import { definitionSchema } from "./domain/language/syntax/json-schema.ts";
import {
  type DefinitionHead,
  type Draft,
  type VersionHead,
  versionStatus,
  type WorkflowDefinition,
} from "./domain/workflow-definition.ts";
import type { CheckedDraft, DefinitionService, VersionChoice } from "./service.ts";
import { definitionStore } from "./store.ts";

/** Handlers of WorkflowDefinitionService. */
export function definitionHandlers(service: DefinitionService, cursors: Cursors): Handlers<typeof Rpc> {
  const schema = {
    contentType: "application/schema+json",
    data: Buffer.from(JSON.stringify(definitionSchema(), null, 2)),
  };
  /** The document of a request that has it as JSON or as a text. */
  async function readDocument({ document, text, format }: ValidateWorkflowDefinitionRequest): Promise<unknown> {
    if ((document === undefined) === (text === "")) {
      throw invalid("document", "required", "must be given, or text instead of it");
    }
    return text === "" ? document : service.readText(text, toFormat(format));
  }

  return {
    async createWorkflowDefinition(context, request) {
      const definition = await service.createDefinition(context, toDocument(request.document));
      return create(CreateWorkflowDefinitionResponseSchema, { workflowDefinition: fromDefinition(definition) });
    },

    async getWorkflowDefinition(context, request) {
      const definition = await service.getDefinition(context, request.id);
      return create(GetWorkflowDefinitionResponseSchema, { workflowDefinition: fromDefinition(definition) });
    },

    async listWorkflowDefinitions(context, request) {
      const { tenantId, operation, sql } = context;
      const filter = { status: nameOf(statuses, request.status), keyPrefix: request.keyPrefix };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [filter.status, filter.keyPrefix] },
        (definition: DefinitionHead) => definition.id,
        (wanted) => definitionStore(sql).list(tenantId, filter, wanted),
      );
      const workflowDefinitions = page.items.map((head) => fromHead(head));
      return create(ListWorkflowDefinitionsResponseSchema, { ...page, workflowDefinitions });
    },

    async updateWorkflowDefinitionDraft(context, { id, document, recordVersion }) {
      const version = expectedVersion(recordVersion);
      const definition = await service.updateDraft(context, id, toDocument(document), version);
      return create(UpdateWorkflowDefinitionDraftResponseSchema, { workflowDefinition: fromDefinition(definition) });
    },

    publishWorkflowDefinition: {
      prepare(context: Context, { id, recordVersion }: PublishWorkflowDefinitionRequest) {
        return service.prepareDraft(context, id, expectedVersion(recordVersion));
      },
      async run(context: Context, request: PublishWorkflowDefinitionRequest, checked: CheckedDraft) {
        const version = expectedVersion(request.recordVersion);
        const published = await service.publishDraft(context, checked, request.message, version, request.stage);
        return create(PublishWorkflowDefinitionResponseSchema, {
          workflowDefinition: fromHead(published.definition),
          version: fromVersion(published.definition, published.version),
          unchanged: published.unchanged,
        });
      },
    },

    async duplicateWorkflowDefinition(context, { id, key, version }) {
      const copy = await service.duplicateDefinition(context, id, key ?? "", toChoice(version, "draft"));
      return create(DuplicateWorkflowDefinitionResponseSchema, { workflowDefinition: fromDefinition(copy) });
    },

    async archiveWorkflowDefinition(context, request) {
      const definition = await service.archiveDefinition(context, request.id);
      return create(ArchiveWorkflowDefinitionResponseSchema, { workflowDefinition: fromDefinition(definition) });
    },

    async validateWorkflowDefinition(context, request) {
      const report = await service.validateDocument(context, await readDocument(request));
      const { violations, ...result } = report;
      return create(ValidateWorkflowDefinitionResponseSchema, {
        valid: violations.length === 0,
        violations: [...violations],
        ...result,
      });
    },

    importWorkflowDefinition: {
      prepare(_context: Context, { text, format }: ImportWorkflowDefinitionRequest) {
        return service.readDraftText(text, toFormat(format));
      },
      async run(context: Context, { recordVersion }: ImportWorkflowDefinitionRequest, draft: Draft) {
        const imported = await service.importDraft(context, draft, expectedVersion(recordVersion));
        const { definition, ...result } = imported;
        const workflowDefinition = fromDefinition(definition);
        return create(ImportWorkflowDefinitionResponseSchema, { workflowDefinition, ...result });
      },
    },

    async exportWorkflowDefinition(context, request) {
      const format = toFormat(request.format);
      const document = await service.getDocument(context, request.id, toChoice(request.version, "draft"));
      const data = Buffer.from(formatText(document, format));
      return create(ExportWorkflowDefinitionResponseSchema, {
        document: { contentType: `application/${format}`, data },
      });
    },

    async listWorkflowDefinitionVersions(context, request) {
      const { tenantId, operation, sql } = context;
      const definition = await service.getHead(context, request.id);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [definition.id] },
        ({ version }: VersionHead) => String(version),
        (wanted) => definitionStore(sql).listVersions(tenantId, definition.id, wanted),
      );
      const versions = page.items.map((version) => fromVersion(definition, version));
      return create(ListWorkflowDefinitionVersionsResponseSchema, { ...page, versions });
    },

    async getWorkflowDefinitionVersion(context, request) {
      const choice = request.version === "active" ? "active" : Number(request.version);
      const { definition, version } = await service.getVersion(context, request.id, choice);
      return create(GetWorkflowDefinitionVersionResponseSchema, {
        version: fromVersion(definition, version, version.document),
      });
    },

    async diffWorkflowDefinition(context, { id, from, to }) {
      const diff = await service.diffVersions(context, id, toChoice(from, "active"), toChoice(to, "draft"));
      const { fields, steps, truncated } = diff;
      return create(DiffWorkflowDefinitionResponseSchema, {
        equal: fields.length === 0 && steps.length === 0,
        fields: [...fields],
        steps: steps.map((step) => ({ ...step, values: [...step.values] })),
        truncated,
      });
    },

    async getWorkflowDefinitionSchema() {
      return create(GetWorkflowDefinitionSchemaResponseSchema, { schema });
    },
  };
}

const statuses = { draft: Status.DRAFT, published: Status.PUBLISHED, archived: Status.ARCHIVED } as const;

const versionStatuses = {
  active: VersionStatus.ACTIVE,
  superseded: VersionStatus.SUPERSEDED,
  staged: VersionStatus.STAGED,
  retired: VersionStatus.RETIRED,
} as const;

function toDocument(document: unknown): JsonObject {
  return (document ?? {}) as JsonObject;
}

function toFormat(format: string): TextFormat {
  return format === "json" ? "json" : "yaml";
}

function toChoice(text: string, fallback: "draft" | "active"): VersionChoice {
  if (text === "") return fallback;
  return text === "draft" || text === "active" ? text : Number(text);
}

function fromHead(head: DefinitionHead, draft?: JsonObject): WorkflowDefinitionMessage {
  return create(WorkflowDefinitionSchema, {
    id: head.id,
    tenantId: head.tenantId,
    key: head.key,
    name: head.name,
    status: statuses[head.status],
    activeVersion: head.activeVersion,
    hasUnpublishedChanges: head.draftDigest !== head.activeDigest,
    ...(draft !== undefined && { draft: draft as never }),
    ...stampFields(head),
  });
}

function fromDefinition(definition: WorkflowDefinition): WorkflowDefinitionMessage {
  return fromHead(definition, definition.draft);
}

function fromVersion(
  definition: DefinitionHead,
  version: VersionHead,
  document?: JsonObject,
): WorkflowDefinitionVersionMessage {
  return create(WorkflowDefinitionVersionSchema, {
    definitionId: definition.id,
    key: definition.key,
    version: version.version,
    status: versionStatuses[versionStatus(definition, version.version)],
    digest: version.digest,
    ...(document !== undefined && { document: document as never }),
    message: version.message,
    publishedBy: version.publishedBy,
    publishedAt: timestampFromDate(version.publishedAt),
  });
}
