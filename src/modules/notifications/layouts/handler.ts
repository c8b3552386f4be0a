import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CreateLayoutResponseSchema,
  DeleteLayoutResponseSchema,
  DuplicateLayoutResponseSchema,
  GetLayoutResponseSchema,
  GetLayoutUsageResponseSchema,
  type Layout as LayoutMessage,
  LayoutSchema,
  ListLayoutsResponseSchema,
  PreviewLayoutResponseSchema,
  type LayoutService as Rpc,
  SetDefaultLayoutResponseSchema,
  UpdateLayoutResponseSchema,
} from "../../../../gen/service/api/layout_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import type { Engine } from "../../../platform/templates/index.ts";
import type { LayoutChannel } from "./domain/channel.ts";
import type { Layout, LayoutDetails } from "./domain/layout.ts";
import type { LayoutService } from "./service.ts";
import { layoutStore } from "./store.ts";

/** The operations of LayoutService. */
export function layoutHandlers(service: LayoutService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async createLayout(context, request) {
      const channel = request.channel as LayoutChannel;
      const input = { ...toDetails(request), channel, isDefault: request.isDefault };
      const layout = await service.createLayout(context, input);
      return create(CreateLayoutResponseSchema, { layout: fromLayout(layout) });
    },

    async getLayout(context, request) {
      const layout = await service.getLayout(context, request.id);
      return create(GetLayoutResponseSchema, { layout: fromLayout(layout) });
    },

    async listLayouts(context, request) {
      const { tenantId, operation, sql } = context;
      const channel = (request.channel || undefined) as LayoutChannel | undefined;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [channel] },
        (layout: Layout) => layout.id,
        (wanted) => layoutStore(sql).list(tenantId, channel, wanted),
      );
      return create(ListLayoutsResponseSchema, { ...page, layouts: page.items.map(fromLayout) });
    },

    async updateLayout(context, request) {
      const layout = await service.updateLayout(context, request.id, toDetails(request), request.version);
      return create(UpdateLayoutResponseSchema, { layout: fromLayout(layout) });
    },

    async deleteLayout(context, request) {
      const layout = await service.deleteLayout(context, request.id);
      return create(DeleteLayoutResponseSchema, { layout: fromLayout(layout) });
    },

    async getLayoutUsage(context, request) {
      const { workflowKeys, more } = await service.getLayoutUsage(context, request.id);
      return create(GetLayoutUsageResponseSchema, { workflowKeys: [...workflowKeys], more });
    },

    async setDefaultLayout(context, request) {
      const layout = await service.setDefaultLayout(context, request.id);
      return create(SetDefaultLayoutResponseSchema, { layout: fromLayout(layout) });
    },

    async duplicateLayout(context, request) {
      const layout = await service.duplicateLayout(context, request.id);
      return create(DuplicateLayoutResponseSchema, { layout: fromLayout(layout) });
    },

    async previewLayout(context, { id, payload = {}, subscriber = {} }) {
      const { body, textBody, resolved, unresolved } = await service.previewLayout(context, id, {
        payload,
        subscriber,
      });
      const variables = { resolvedVariables: [...resolved], unresolvedVariables: [...unresolved] };
      return create(PreviewLayoutResponseSchema, { body, textBody, ...variables });
    },
  };
}

interface LayoutFields extends Omit<LayoutDetails, "engine" | "metadata"> {
  readonly engine: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Converts the replaceable fields of a request. */
export function toDetails({ name, description, engine, body, textBody, metadata = {} }: LayoutFields): LayoutDetails {
  return { name, description, engine: (engine || "handlebars") as Engine, body, textBody, metadata };
}

function fromLayout(layout: Layout): LayoutMessage {
  return create(LayoutSchema, {
    id: layout.id,
    tenantId: layout.tenantId,
    name: layout.name,
    description: layout.description,
    channel: layout.channel,
    engine: layout.engine,
    body: layout.body,
    textBody: layout.textBody,
    isDefault: layout.isDefault,
    version: layout.version,
    variables: [...layout.variables],
    metadata: layout.metadata as never,
    createdAt: timestampFromDate(layout.createdAt),
    updatedAt: timestampFromDate(layout.updatedAt),
  });
}
