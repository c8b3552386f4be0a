import type { LayoutService as Rpc } from "../../../../gen/service/api/layout_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Engine } from "../../../platform/templates/index.ts";
import type { LayoutChannel } from "./domain/channel.ts";
import type { LayoutDetails } from "./domain/layout.ts";
import type { LayoutService } from "./service.ts";
import { layoutStore } from "./store.ts";

export function layoutHandlers(service: LayoutService): Handlers<typeof Rpc> {
  return {
    async createLayout(context, request) {
      const channel = request.channel as LayoutChannel;
      const input = { ...toDetails(request), channel, isDefault: request.isDefault };
      return { layout: await service.createLayout(context, input) };
    },

    getLayout: async (context, { id }) => ({ layout: await service.getLayout(context, id) }),

    listLayouts(context, request) {
      const channel = (request.channel || undefined) as LayoutChannel | undefined;
      return context.page("layouts", request, [channel], (page) =>
        layoutStore(context.sql).list(context.tenantId, channel, page),
      );
    },

    async updateLayout(context, request) {
      return { layout: await service.updateLayout(context, request.id, toDetails(request), request.version) };
    },

    deleteLayout: async (context, { id }) => ({ layout: await service.deleteLayout(context, id) }),

    getLayoutUsage: (context, { id }) => service.getLayoutUsage(context, id),

    setDefaultLayout: async (context, { id }) => ({ layout: await service.setDefaultLayout(context, id) }),

    duplicateLayout: async (context, { id }) => ({ layout: await service.duplicateLayout(context, id) }),

    async previewLayout(context, { id, payload = {}, subscriber = {} }) {
      const { resolved, unresolved, ...texts } = await service.previewLayout(context, id, { payload, subscriber });
      return { ...texts, resolvedVariables: resolved, unresolvedVariables: unresolved };
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
