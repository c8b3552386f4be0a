import type { OutboxService } from "../../../../../gen/service/api/outbox_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { outboxStore } from "./outbox-store.ts";

export const outboxHandlers: Handlers<typeof OutboxService> = {
  listOutboxMessages(context, request) {
    const channel = request.channel || undefined;
    return context.page("messages", request, [channel], (page) =>
      outboxStore(context.sql).list(context.tenantId, channel, page),
    );
  },
};
