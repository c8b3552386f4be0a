import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ListOutboxMessagesResponseSchema,
  OutboxMessageSchema,
  type OutboxService,
} from "../../../../../gen/service/api/outbox_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { type OutboxMessage, outboxStore } from "./outbox-store.ts";

/** The operations of OutboxService. */
export function outboxHandlers(cursors: Cursors): Handlers<typeof OutboxService> {
  return {
    async listOutboxMessages({ sql, tenantId, operation }, request) {
      const channel = request.channel || undefined;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [channel] },
        (message: OutboxMessage) => message.id,
        (wanted) => outboxStore(sql).list(tenantId, channel, wanted),
      );
      return create(ListOutboxMessagesResponseSchema, { ...page, messages: page.items.map(fromMessage) });
    },
  };
}

function fromMessage({ data, createdAt, ...rest }: OutboxMessage) {
  return create(OutboxMessageSchema, { ...rest, data: data as never, createdAt: timestampFromDate(createdAt) });
}
