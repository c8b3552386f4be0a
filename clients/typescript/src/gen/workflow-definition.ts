// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Workflow definitions: documents of the workflow language, edited as drafts and published as immutable versions. */
export interface WorkflowDefinitionService {
  /** Creates a definition with a draft. The key is the document's. A draft may be unfinished: it is checked when it is published. */
  create(request: CreateWorkflowDefinitionRequest, options?: CallOptions): Promise<WorkflowDefinition>;

  /** Returns one definition with its draft. */
  get(request: GetWorkflowDefinitionRequest, options?: CallOptions): Promise<WorkflowDefinition>;

  /** Lists the definitions of the caller's tenant, without their documents. */
  list(request?: ListWorkflowDefinitionsRequest, options?: CallOptions): List<WorkflowDefinition>;

  /** Replaces the draft of a definition. The key of a definition never changes. */
  updateDraft(request: UpdateWorkflowDefinitionDraftRequest, options?: CallOptions): Promise<WorkflowDefinition>;

  /** Checks the draft and publishes it as the next version. New runs use it; runs in progress keep their version. A draft that equals the active version is not published again: the active version is returned. */
  publish(request: PublishWorkflowDefinitionRequest, options?: CallOptions): Promise<PublishWorkflowDefinitionResponse>;

  /** Creates a definition with a copy of a draft or of a version. */
  duplicate(request: DuplicateWorkflowDefinitionRequest, options?: CallOptions): Promise<WorkflowDefinition>;

  /** Archives a definition: there are no new runs, and runs in progress finish. Its key can be used again. An archived definition can be duplicated, but not changed. Refused while the active version of another definition runs it. */
  archive(request: ArchiveWorkflowDefinitionRequest, options?: CallOptions): Promise<WorkflowDefinition>;

  /** Checks a document like publishing does, without storing it. */
  validate(request?: ValidateWorkflowDefinitionRequest, options?: CallOptions): Promise<ValidateWorkflowDefinitionResponse>;

  /** Creates or updates the draft of the definition whose key a YAML or JSON text names. */
  import(request: ImportWorkflowDefinitionRequest, options?: CallOptions): Promise<ImportWorkflowDefinitionResponse>;

  /** Returns a definition's draft or one of its versions as a YAML or JSON text. A draft that was imported as a text comes back as YAML as it was written, with its comments and its order. */
  export(request: ExportWorkflowDefinitionRequest, options?: CallOptions): Promise<Response>;

  /** Lists the published versions of a definition, newest first, without their documents. */
  listVersions(request: ListWorkflowDefinitionVersionsRequest, options?: CallOptions): List<WorkflowDefinitionVersion>;

  /** Returns one published version with its document. Versions never change. */
  getVersion(request: GetWorkflowDefinitionVersionRequest, options?: CallOptions): Promise<WorkflowDefinitionVersion>;

  /** Compares two versions of a definition, or a version with the draft. Steps are matched by their ids. */
  diff(request: DiffWorkflowDefinitionRequest, options?: CallOptions): Promise<DiffWorkflowDefinitionResponse>;

  /** Returns the JSON Schema of the workflow language, for editors and other tools. */
  getSchema(request?: GetWorkflowDefinitionSchemaRequest, options?: CallOptions): Promise<Response>;
}

const workflowDefinitionServiceOperations = {
  create: { verb: "POST", path: "/api/workflow-definitions", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/workflow-definitions/{id}" },
  list: { verb: "GET", path: "/api/workflow-definitions", result: "cursor" },
  updateDraft: { verb: "PATCH", path: "/api/workflow-definitions/{id}/draft", body: "*", keyed: true },
  publish: { verb: "POST", path: "/api/workflow-definitions/{id}/publish", body: "*", keyed: true },
  duplicate: { verb: "POST", path: "/api/workflow-definitions/{id}/duplicate", body: "*", keyed: true },
  archive: { verb: "POST", path: "/api/workflow-definitions/{id}/archive", body: "*", keyed: true },
  validate: { verb: "POST", path: "/api/workflow-definitions:validate", body: "*" },
  import: { verb: "POST", path: "/api/workflow-definitions:import", body: "*", keyed: true },
  export: { verb: "GET", path: "/api/workflow-definitions/{id}/export", result: "raw" },
  listVersions: { verb: "GET", path: "/api/workflow-definitions/{id}/versions", result: "cursor" },
  getVersion: { verb: "GET", path: "/api/workflow-definitions/{id}/versions/{version}" },
  diff: { verb: "GET", path: "/api/workflow-definitions/{id}/diff" },
  getSchema: { verb: "GET", path: "/api/workflow-definitions:schema", result: "raw" },
} as const satisfies Record<keyof WorkflowDefinitionService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowDefinitionService(transport: Transport): WorkflowDefinitionService {
  return bindOperations<WorkflowDefinitionService>(transport, workflowDefinitionServiceOperations);
}

/** Request to create a definition. */
export type CreateWorkflowDefinitionRequest = {
  /** The draft, a document of the workflow language of at most 256 KiB. */
  readonly document: object;
};

/** A workflow definition: the steps that runs execute. The draft is edited, and published as immutable versions. */
export type WorkflowDefinition = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The key, unique among the tenant's definitions that are not archived. */
  readonly key: string;
  /** The name of the draft. */
  readonly name: string;
  /** The state. */
  readonly status: WorkflowDefinitionStatus;
  /** The version that new runs use, or the last one of an archived definition; 0 if none was published. */
  readonly active_version: number;
  /** Whether the draft differs from the active version. */
  readonly has_unpublished_changes: boolean;
  /** The draft, a document of the workflow language. Absent in lists. */
  readonly draft?: JsonObject;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** The state of a definition. */
export type WorkflowDefinitionStatus = "STATUS_UNSPECIFIED" | "STATUS_DRAFT" | "STATUS_PUBLISHED" | "STATUS_ARCHIVED";

/** Identifies a definition. */
export type GetWorkflowDefinitionRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
};

/** Request for a page of definitions. */
export type ListWorkflowDefinitionsRequest = {
  /** Only those in this state; by default all that are not archived. */
  readonly status?: WorkflowDefinitionStatus;
  /** Only those whose key starts with this text. */
  readonly key_prefix?: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Replaces the draft. */
export type UpdateWorkflowDefinitionDraftRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
  /** The new draft, with the key of the definition. */
  readonly document: object;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Request to publish the draft. */
export type PublishWorkflowDefinitionRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
  /** What is new, for people. */
  readonly message?: string;
  /** Publishes only if the definition, and so its draft, has this version. */
  readonly record_version?: number;
  /** Stores the version without activating it. A promotion activates it. */
  readonly stage?: boolean;
};

/** The result of publishing. */
export type PublishWorkflowDefinitionResponse = {
  /** The definition, without its draft. */
  readonly workflow_definition?: WorkflowDefinition;
  /** The published version, without its document. It is the active one, unless it was staged. */
  readonly version?: WorkflowDefinitionVersion;
  /** Whether the draft equals the version that was active before, or the newest staged one, so that nothing was published. */
  readonly unchanged: boolean;
};

/** A published version of a definition. It never changes. */
export type WorkflowDefinitionVersion = {
  /** The definition's id. */
  readonly definition_id: string;
  /** The definition's key. */
  readonly key: string;
  /** The number, from 1. */
  readonly version: number;
  /** The state. */
  readonly status: WorkflowDefinitionVersionStatus;
  /** The SHA-256 of the document as canonical JSON (RFC 8785), in hexadecimal. */
  readonly digest: string;
  /** The document. Absent in lists. */
  readonly document?: JsonObject;
  /** What the publisher wrote about the version. */
  readonly message: string;
  /** Who published it. */
  readonly published_by: string;
  /** When it was published. */
  readonly published_at?: string;
};

/** The state of a version. */
export type WorkflowDefinitionVersionStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_SUPERSEDED" | "STATUS_RETIRED" | "STATUS_STAGED";

/** Request to copy a definition. */
export type DuplicateWorkflowDefinitionRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
  /** The key of the copy; by default the original's with `-copy`. */
  readonly key?: string;
  /** What to copy: a version number, `active` or `draft` (default). */
  readonly version?: string;
};

/** Selects the definition to archive. */
export type ArchiveWorkflowDefinitionRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
};

/** A document to check: as JSON or as a text. */
export type ValidateWorkflowDefinitionRequest = {
  /** The document. Absent if there is a text. */
  readonly document?: object;
  /** The document as a YAML or JSON text. */
  readonly text?: string;
  /** The format of the text: yaml (default) or json. */
  readonly format?: "" | "yaml" | "json";
};

/** The result of a check. */
export type ValidateWorkflowDefinitionResponse = {
  /** Whether the document can be published. */
  readonly valid: boolean;
  /** What must be corrected, at most 100 entries. The structure is checked first, and the rest once it is valid. */
  readonly violations: readonly WorkflowDefinitionViolation[];
  /** The digest that a version with this document has; empty if it is not valid. */
  readonly digest: string;
  /** How many steps a run executes at most; 0 if the document is not valid. */
  readonly worst_case_steps: number;
  /** The document of the text; absent if it came as JSON, or if the text is not that of an object. */
  readonly document?: JsonObject;
};

/** A rule of the workflow language that a document breaks. */
export type WorkflowDefinitionViolation = {
  /** Where, such as `steps[2].branch[0].when`; empty for the document itself. */
  readonly path: string;
  /** The rule, such as `unknown_field`. */
  readonly rule: string;
  /** What is wrong and how to correct it, for people. */
  readonly message: string;
  /** The place in an expression, including its `=`; absent for other violations. */
  readonly position?: WorkflowTextPosition;
  /** The place in the text that was checked; absent if the document came as JSON. */
  readonly text_position?: WorkflowTextPosition;
};

/** A position in a text. */
export type WorkflowTextPosition = {
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
};

/** A text to import. */
export type ImportWorkflowDefinitionRequest = {
  /** The document as YAML or JSON. */
  readonly text: string;
  /** yaml (default) or json. */
  readonly format?: "" | "yaml" | "json";
  /** Makes the update of an existing definition conditional on this version. */
  readonly record_version?: number;
};

/** The result of an import. */
export type ImportWorkflowDefinitionResponse = {
  /** The definition. */
  readonly workflow_definition?: WorkflowDefinition;
  /** Whether the definition was created. */
  readonly created: boolean;
  /** Whether the draft was already equal to the text. */
  readonly unchanged: boolean;
};

/** Request for a text. */
export type ExportWorkflowDefinitionRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
  /** yaml (default) or json. */
  readonly format?: "" | "yaml" | "json";
  /** A version number, `active` or `draft` (default). */
  readonly version?: string;
};

/** Request for a page of versions. */
export type ListWorkflowDefinitionVersionsRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Identifies a version. */
export type GetWorkflowDefinitionVersionRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
  /** The number of the version, or `active`. */
  readonly version: string;
};

/** Two versions to compare. */
export type DiffWorkflowDefinitionRequest = {
  /** The id or the key of the definition. */
  readonly id: string;
  /** A version number, `draft` or `active` (default). */
  readonly from?: string;
  /** A version number, `active` or `draft` (default). */
  readonly to?: string;
};

/** The differences between two documents. */
export type DiffWorkflowDefinitionResponse = {
  /** Whether the documents are equal. */
  readonly equal: boolean;
  /** The fields that differ, except steps. */
  readonly fields: readonly WorkflowValueChange[];
  /** The steps that differ. */
  readonly steps: readonly WorkflowStepChange[];
  /** Whether there are more differences than are listed. */
  readonly truncated: boolean;
};

/** A value that differs. */
export type WorkflowValueChange = {
  /** The path of the value, below the step if it is in one. */
  readonly path: string;
  /** The value before as JSON, shortened if it is long; absent if there was none. */
  readonly before?: string;
  /** The value after as JSON, shortened if it is long; absent if there is none. */
  readonly after?: string;
};

/** A step that differs. */
export type WorkflowStepChange = {
  /** The id of the step. */
  readonly id: string;
  /** added, removed, changed or moved. */
  readonly change: string;
  /** Whether a changed step is also in another place. */
  readonly moved: boolean;
  /** Its path before; empty if it was added. */
  readonly before_path: string;
  /** Its path after; empty if it was removed. */
  readonly after_path: string;
  /** What differs inside a changed step, without the steps inside of it. */
  readonly values: readonly WorkflowValueChange[];
};

/** Request for the schema of the workflow language. */
export type GetWorkflowDefinitionSchemaRequest = Record<never, never>;
