// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Layouts: templates around the notifications of a channel. */
export interface LayoutService {
  /** Creates a layout. Its templates must contain a reachable {{ content }}. */
  create(request: CreateLayoutRequest, options?: CallOptions): Promise<Layout>;

  /** Returns one layout. */
  get(request: GetLayoutRequest, options?: CallOptions): Promise<Layout>;

  /** Lists the layouts of the caller's tenant, oldest first. */
  list(request?: ListLayoutsRequest, options?: CallOptions): List<Layout>;

  /** Replaces the text of a layout at the version that the request names. Its channel and whether it is the default do not change. */
  update(request: UpdateLayoutRequest, options?: CallOptions): Promise<Layout>;

  /** Deletes a layout that no notification workflow uses. */
  delete(request: DeleteLayoutRequest, options?: CallOptions): Promise<Layout>;

  /** Lists the notification workflows that use a layout. */
  getUsage(request: GetLayoutUsageRequest, options?: CallOptions): Promise<GetLayoutUsageResponse>;

  /** Makes a layout the default of its channel, in place of the previous default. */
  setDefault(request: SetDefaultLayoutRequest, options?: CallOptions): Promise<Layout>;

  /** Creates a copy that is never the default. A copy of Invoice is named Invoice (copy); if that name is taken, the suffix is added again: Invoice (copy) (copy). */
  duplicate(request: DuplicateLayoutRequest, options?: CallOptions): Promise<Layout>;

  /** Renders a layout with sample data and placeholder content. Nothing is stored. */
  preview(request: PreviewLayoutRequest, options?: CallOptions): Promise<PreviewLayoutResponse>;
}

const layoutServiceOperations = {
  create: { verb: "POST", path: "/api/v2/layouts", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/layouts/{id}" },
  list: { verb: "GET", path: "/api/v2/layouts", result: "cursor" },
  update: { verb: "PUT", path: "/api/v2/layouts/{id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/v2/layouts/{id}", keyed: true },
  getUsage: { verb: "GET", path: "/api/v2/layouts/{id}/usage" },
  setDefault: { verb: "POST", path: "/api/v2/layouts/{id}:setDefault", body: "*", keyed: true },
  duplicate: { verb: "POST", path: "/api/v2/layouts/{id}:duplicate", body: "*", keyed: true },
  preview: { verb: "POST", path: "/api/v2/layouts/{id}:preview", body: "*" },
} as const satisfies Record<keyof LayoutService, Operation>;

/** Creates the service over a transport. */
export function createLayoutService(transport: Transport): LayoutService {
  return bindOperations<LayoutService>(transport, layoutServiceOperations);
}

/** Creates a layout. */
export type CreateLayoutRequest = {
  /** The name, unique on its channel. */
  readonly name: string;
  /** The description. */
  readonly description?: string;
  /** The template language: handlebars or liquid; handlebars when empty. */
  readonly engine?: "handlebars" | "liquid";
  /** The template around the content, with {{ content }} in its place; HTML on email. */
  readonly body: string;
  /** The template around the content without markup, also with {{ content }}; empty for none. */
  readonly text_body?: string;
  /** Free-form data of the tenant, at most 16 KiB as JSON. */
  readonly metadata?: object;
  /** The channel: email, sms, push, chat or inapp. */
  readonly channel: "email" | "sms" | "push" | "chat" | "inapp";
  /** Whether it becomes the default of its channel. */
  readonly is_default?: boolean;
};

/** A template around the notifications of one channel. */
export type Layout = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The name, unique on its channel. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** The channel: email, sms, push, chat or inapp. */
  readonly channel: string;
  /** The template language: handlebars or liquid. */
  readonly engine: string;
  /** The template around the content; HTML on email. */
  readonly body: string;
  /** The template around the content without markup; empty if there is none. */
  readonly text_body: string;
  /** Whether it is used for notifications that name no layout. */
  readonly is_default: boolean;
  /** The version of its text, from 1. */
  readonly version: number;
  /** The variables that its templates read, except the content. */
  readonly variables: readonly string[];
  /** Free-form data of the tenant. */
  readonly metadata?: JsonObject;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
};

/** Identifies a layout. */
export type GetLayoutRequest = {
  /** The layout's id. */
  readonly id: string;
};

/** Request for a page of layouts. */
export type ListLayoutsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this channel: email, sms, push, chat or inapp. */
  readonly channel?: "email" | "sms" | "push" | "chat" | "inapp";
};

/** Replaces the text of a layout. Absent fields are cleared. */
export type UpdateLayoutRequest = {
  /** The layout's id. */
  readonly id: string;
  /** The name, unique on its channel. */
  readonly name: string;
  /** The description. */
  readonly description?: string;
  /** The template language: handlebars or liquid; handlebars when empty. */
  readonly engine?: "handlebars" | "liquid";
  /** The template around the content, with {{ content }} in its place; HTML on email. */
  readonly body: string;
  /** The template around the content without markup, also with {{ content }}; empty for none. */
  readonly text_body?: string;
  /** Free-form data of the tenant, at most 16 KiB as JSON. */
  readonly metadata?: object;
  /** The version that the caller read; rejected if the layout has changed since. */
  readonly version: number;
};

/** Identifies a layout. */
export type DeleteLayoutRequest = {
  /** The layout's id. */
  readonly id: string;
};

/** Identifies a layout. */
export type GetLayoutUsageRequest = {
  /** The layout's id. */
  readonly id: string;
};

/** The use of a layout. */
export type GetLayoutUsageResponse = {
  /** The keys of the notification workflows that use it, sorted; 1000 at most. */
  readonly workflow_keys: readonly string[];
  /** Whether there are more. */
  readonly more: boolean;
};

/** Identifies a layout. */
export type SetDefaultLayoutRequest = {
  /** The layout's id. */
  readonly id: string;
};

/** Identifies a layout. */
export type DuplicateLayoutRequest = {
  /** The layout's id. */
  readonly id: string;
};

/** Selects a layout and the sample data. */
export type PreviewLayoutRequest = {
  /** The layout's id. */
  readonly id: string;
  /** The payload of the sample trigger. */
  readonly payload?: object;
  /** The fields of the sample subscriber. */
  readonly subscriber?: object;
};

/** A layout, rendered with placeholder content. */
export type PreviewLayoutResponse = {
  /** The rendered body with placeholder content. */
  readonly body: string;
  /** The rendered body without markup; empty if the layout has none. */
  readonly text_body: string;
  /** The variables that the sample provides. */
  readonly resolved_variables: readonly string[];
  /** The variables that the sample does not provide; they are rendered as empty. */
  readonly unresolved_variables: readonly string[];
};
