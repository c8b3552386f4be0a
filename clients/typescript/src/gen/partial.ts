// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Partials: pieces of templates that notification workflows, layouts and other partials include. */
export interface PartialService {
  /** Creates or replaces a partial. Handlebars includes it with {{> key}}, Liquid with {% render 'key' %}. */
  upsert(request: UpsertPartialRequest, options?: CallOptions): Promise<TemplatePartial>;

  /** Returns one partial. */
  get(request: GetPartialRequest, options?: CallOptions): Promise<TemplatePartial>;

  /** Lists the partials of the caller's tenant. */
  list(request?: ListPartialsRequest, options?: CallOptions): List<TemplatePartial>;

  /** Deletes a partial. One that a notification workflow, a layout or another partial includes is refused. */
  delete(request: DeletePartialRequest, options?: CallOptions): Promise<TemplatePartial>;
}

const partialServiceOperations = {
  upsert: { verb: "PUT", path: "/api/v2/notification/partials/{key}", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/notification/partials/{key}" },
  list: { verb: "GET", path: "/api/v2/notification/partials", result: "cursor" },
  delete: { verb: "DELETE", path: "/api/v2/notification/partials/{key}", keyed: true },
} as const satisfies Record<keyof PartialService, Operation>;

/** Creates the service over a transport. */
export function createPartialService(transport: Transport): PartialService {
  return bindOperations<PartialService>(transport, partialServiceOperations);
}

/** Creates or replaces a partial. */
export type UpsertPartialRequest = {
  /** The key: lower-case letters and digits, separated by single hyphens or underscores (for example: order-footer). */
  readonly key: string;
  /** The description. */
  readonly description?: string;
  /** The template language, "handlebars" or "liquid". */
  readonly engine: "handlebars" | "liquid";
  /** The template. It sees the values of the place that includes it. */
  readonly body: string;
  /** Makes the change conditional on this version; 0 for a partial that must not exist yet. */
  readonly record_version?: number;
};

/** A piece of a template. */
export type TemplatePartial = {
  /** The key, unique in the tenant: lower-case letters and digits, separated by single hyphens or underscores (for example: order-footer). */
  readonly key: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The description. */
  readonly description: string;
  /** The template language, "handlebars" or "liquid". Only templates of the same language can include it. */
  readonly engine: string;
  /** The template. */
  readonly body: string;
  /** The partials that it includes, sorted. */
  readonly includes: readonly string[];
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** Selects a partial. */
export type GetPartialRequest = {
  /** The partial's key. */
  readonly key: string;
};

/** Request for a page of partials. */
export type ListPartialsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects the partial to delete. */
export type DeletePartialRequest = {
  /** The partial's key. */
  readonly key: string;
};
