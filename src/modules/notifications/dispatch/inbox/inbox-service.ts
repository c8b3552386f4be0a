import type { Context } from "../../../../chain/call.ts";
import { requireFound } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { InboxMark } from "../domain/inbox-mark.ts";
import type { ObservationService } from "../observations/observation-service.ts";
import type { WakeInbox } from "./inbox-feed.ts";
import { type InboxMessage, inboxStore } from "./inbox-store.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly observations: Pick<ObservationService, "recordInboxEngagement">;
  readonly wakeInbox: WakeInbox;
  /** Called in the transaction that marks messages as seen or read. */
  onInboxChange(context: Context, messageIds: readonly string[]): Promise<void>;
}

export type InboxService = ReturnType<typeof createInboxService>;

/** The maximum number of messages that one call marks. */
const markedMax = 10_000;
/** The maximum number of message ids in an event. */
const namedMax = 100;

export function createInboxService({ events, observations, wakeInbox, onInboxChange }: Dependencies) {
  /** Sets the states of messages, and records what changed. */
  async function markMessages(
    context: Context,
    subscriberId: string,
    ids: readonly string[] | undefined,
    mark: InboxMark,
  ): Promise<{ readonly markedCount: number; readonly hasMore: boolean }> {
    const { sql, tenantId, nowMs } = context;
    const changed = await inboxStore(sql).mark(tenantId, subscriberId, ids, mark, new Date(nowMs), markedMax);
    if (changed.length > 0) {
      if (mark.read || mark.seen) {
        await observations.recordInboxEngagement(context, changed, mark.read ? "read" : "seen");
        await onInboxChange(context, changed);
      }
      const data = { count: changed.length, message_ids: changed.slice(0, namedMax), ...givenStates(mark) };
      await events.record(context, "notification.inbox.marked", subscriberId, data);
      context.afterCommit(() => wakeInbox(tenantId, [subscriberId]));
    }
    return { markedCount: changed.length, hasMore: changed.length === markedMax };
  }

  return {
    markMessages,

    /** Sets the states of one message; throws NOT_FOUND if it does not exist. */
    async markMessage(context: Context, subscriberId: string, id: string, mark: InboxMark): Promise<InboxMessage> {
      await markMessages(context, subscriberId, [id], mark);
      return requireFound(await inboxStore(context.sql).find(context.tenantId, subscriberId, id), "message");
    },
  };
}

function givenStates(mark: InboxMark): Record<string, boolean> {
  return Object.fromEntries(Object.entries(mark).filter(([, value]) => value !== undefined));
}
