import type { PartialService as Rpc } from "../../../../gen/service/api/partial_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { Engine } from "../../../platform/templates/index.ts";
import type { PartialService } from "./service.ts";
import { partialStore } from "./store.ts";

export function partialHandlers(service: PartialService): Handlers<typeof Rpc> {
  return {
    async upsertPartial(context, { key, description, engine, body, recordVersion }) {
      const content = { description, engine: engine as Engine, body };
      return { partial: await service.upsertPartial(context, key, content, expectedVersion(recordVersion)) };
    },

    getPartial: async (context, { key }) => ({ partial: await service.getPartial(context, key) }),

    listPartials: (context, request) =>
      context.page(
        "partials",
        request,
        [],
        (page) => partialStore(context.sql).list(context.tenantId, page),
        (partial) => partial.key,
      ),

    deletePartial: async (context, { key }) => ({ partial: await service.deletePartial(context, key) }),
  };
}
