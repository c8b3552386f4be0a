import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CreateSuppressionResponseSchema,
  DeleteSuppressionResponseSchema,
  GetSuppressionResponseSchema,
  ListSuppressionsResponseSchema,
  type SuppressionService as Rpc,
  type Suppression as SuppressionMessage,
  SuppressionSchema,
} from "../../../../../gen/service/api/suppression_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import type { Suppression } from "./domain/suppression.ts";
import type { SuppressionService } from "./suppression-service.ts";
import { suppressionStore } from "./suppression-store.ts";

/** The operations of SuppressionService. */
type SuppressionHandlers = Handlers<typeof Rpc>;

export function suppressionHandlers(service: SuppressionService, cursors: Cursors): SuppressionHandlers {
  return {
    async createSuppression(context, { channel, identity, note }) {
      const input = { channel: channel as Suppression["channel"], identity, note };
      const suppression = await service.createSuppression(context, input);
      return create(CreateSuppressionResponseSchema, { suppression: fromSuppression(suppression) });
    },

    async getSuppression(context, { id }) {
      const suppression = await service.getSuppression(context, id);
      return create(GetSuppressionResponseSchema, { suppression: fromSuppression(suppression) });
    },

    async listSuppressions(context, request) {
      const { tenantId, operation, sql } = context;
      const channel = request.channel || undefined;
      const identity = request.identity || undefined;
      const reason = request.reason || undefined;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [channel, identity, reason] },
        (suppression: Suppression) => suppression.id,
        (wanted) => suppressionStore(sql).list(tenantId, { channel, identity, reason }, wanted),
      );
      return create(ListSuppressionsResponseSchema, { ...page, suppressions: page.items.map(fromSuppression) });
    },

    async deleteSuppression(context, { id }) {
      const suppression = await service.deleteSuppression(context, id);
      return create(DeleteSuppressionResponseSchema, { suppression: fromSuppression(suppression) });
    },
  };
}

function fromSuppression({ createdAt, ...suppression }: Suppression): SuppressionMessage {
  return create(SuppressionSchema, { ...suppression, createdAt: timestampFromDate(createdAt) });
}
