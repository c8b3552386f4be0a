import type { SuppressionService as Rpc } from "../../../../../gen/service/api/suppression_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Suppression } from "./domain/suppression.ts";
import type { SuppressionService } from "./suppression-service.ts";
import { suppressionStore } from "./suppression-store.ts";

export function suppressionHandlers(service: SuppressionService): Handlers<typeof Rpc> {
  return {
    async createSuppression(context, { channel, identity, note }) {
      const input = { channel: channel as Suppression["channel"], identity, note };
      return { suppression: await service.createSuppression(context, input) };
    },

    getSuppression: async (context, { id }) => ({ suppression: await service.getSuppression(context, id) }),

    listSuppressions(context, request) {
      const channel = request.channel || undefined;
      const identity = request.identity || undefined;
      const reason = request.reason || undefined;
      return context.page("suppressions", request, [channel, identity, reason], (page) =>
        suppressionStore(context.sql).list(context.tenantId, { channel, identity, reason }, page),
      );
    },

    deleteSuppression: async (context, { id }) => ({ suppression: await service.deleteSuppression(context, id) }),
  };
}
