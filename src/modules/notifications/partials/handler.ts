import { create } from "@bufbuild/protobuf";
import {
  DeletePartialResponseSchema,
  GetPartialResponseSchema,
  ListPartialsResponseSchema,
  type TemplatePartial as PartialMessage,
  type PartialService as Rpc,
  TemplatePartialSchema,
  UpsertPartialResponseSchema,
} from "../../../../gen/service/api/partial_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, stampFields } from "../../../platform/records/index.ts";
import type { Engine } from "../../../platform/templates/index.ts";
import type { TemplatePartial } from "./domain/partial.ts";
import type { PartialService } from "./service.ts";
import { partialStore } from "./store.ts";

/** The operations of PartialService. */
export function partialHandlers(service: PartialService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async upsertPartial(context, { key, description, engine, body, recordVersion }) {
      const content = { description, engine: engine as Engine, body };
      const partial = await service.upsertPartial(context, key, content, expectedVersion(recordVersion));
      return create(UpsertPartialResponseSchema, { partial: fromPartial(partial) });
    },

    async getPartial(context, { key }) {
      return create(GetPartialResponseSchema, { partial: fromPartial(await service.getPartial(context, key)) });
    },

    async listPartials({ sql, tenantId, operation }, request) {
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id },
        (partial: TemplatePartial) => partial.key,
        (wanted) => partialStore(sql).list(tenantId, wanted),
      );
      return create(ListPartialsResponseSchema, { ...page, partials: page.items.map(fromPartial) });
    },

    async deletePartial(context, { key }) {
      return create(DeletePartialResponseSchema, { partial: fromPartial(await service.deletePartial(context, key)) });
    },
  };
}

function fromPartial(partial: TemplatePartial): PartialMessage {
  return create(TemplatePartialSchema, {
    key: partial.key,
    tenantId: partial.tenantId,
    description: partial.description,
    engine: partial.engine,
    body: partial.body,
    includes: [...partial.includes],
    ...stampFields(partial),
  });
}
