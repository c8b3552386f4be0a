import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  BatchCreateRecipientsResponseSchema,
  CreateRecipientResponseSchema,
  DeleteRecipientResponseSchema,
  type DeliveryAction as DeliveryActionMessage,
  GetRecipientResponseSchema,
  ListRecipientsResponseSchema,
  RecipientDelivery_Mode as Mode,
  type NewRecipient as NewRecipientMessage,
  PauseRecipientResponseSchema,
  type RecipientDelivery,
  type Recipient as RecipientMessage,
  RecipientSchema,
  ResumeRecipientResponseSchema,
  type RecipientService as Rpc,
  Recipient_Status as Status,
  UpdateRecipientResponseSchema,
} from "../../../../../gen/service/api/recipient_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { expectedVersion, nameOf, optionalTime, stampFields } from "../../../../platform/records/index.ts";
import type { DeliveryAction } from "../domain/delivery-action.ts";
import type { PoolId } from "../domain/pool.ts";
import {
  isEjected,
  type NewRecipient,
  noLoad,
  type Recipient,
  type RecipientLoad,
  type RecipientStatus,
} from "../domain/recipient.ts";
import type { RecipientPause } from "../domain/recipient-pause.ts";
import type { RecipientLoadReader } from "../work-store.ts";
import type { RecipientService } from "./recipient-service.ts";
import { recipientStore } from "./recipient-store.ts";

export function recipientHandlers(
  service: RecipientService,
  loads: RecipientLoadReader,
  cursors: Cursors,
): Handlers<typeof Rpc> {
  async function withLoads(
    { sql, tenantId, nowMs }: Context,
    poolId: PoolId,
    recipients: readonly Recipient[],
  ): Promise<RecipientMessage[]> {
    const ids = recipients.map(({ id }) => id);
    const found = await loads.readLoads(sql, tenantId, poolId, ids);
    return recipients.map((each) => fromRecipient(each, found.get(each.id) ?? noLoad, nowMs));
  }

  /** New recipients have no load; only paused ones have something to read. */
  async function fromCreated(context: Context, created: readonly Recipient[]): Promise<RecipientMessage[]> {
    const paused = created.find(({ status }) => status === "paused");
    if (paused !== undefined) return withLoads(context, paused.poolId, created);
    return created.map((recipient) => fromRecipient(recipient, noLoad, context.nowMs));
  }

  async function withLoad(context: Context, recipient: Recipient): Promise<RecipientMessage> {
    return (await withLoads(context, recipient.poolId, [recipient]))[0]!;
  }

  return {
    async createRecipient(context, { poolId, ...request }) {
      const recipient = await service.createRecipient(context, poolId, toNewRecipient(request));
      const [message] = await fromCreated(context, [recipient]);
      return create(CreateRecipientResponseSchema, { recipient: message! });
    },

    async batchCreateRecipients(context, { poolId, recipients }) {
      const created = await service.batchCreateRecipients(context, poolId, recipients.map(toNewRecipient));
      return create(BatchCreateRecipientsResponseSchema, { recipients: await fromCreated(context, created) });
    },

    async getRecipient(context, request) {
      const recipient = await service.getRecipient(context, request.recipientId);
      return create(GetRecipientResponseSchema, { recipient: await withLoad(context, recipient) });
    },

    async listRecipients(context, request) {
      const { tenantId, operation, sql, nowMs } = context;
      const poolId = await service.requirePoolId(context, request.poolId);
      const status = nameOf(allStatuses, request.status);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [poolId, status] },
        (recipient: Recipient) => recipient.id,
        (wanted) => recipientStore(sql).list(tenantId, { poolId, status, now: new Date(nowMs) }, wanted),
      );
      const recipients = await withLoads(context, poolId, page.items);
      return create(ListRecipientsResponseSchema, { ...page, recipients });
    },

    async updateRecipient(context, { recipientId, status, skillSet, delivery, recordVersion, ...request }) {
      const { name, weight, capacity, priority, attributes, cost } = request;
      const change = {
        name,
        status: status === undefined ? undefined : nameOf(statuses, status),
        weight,
        capacity,
        priority,
        attributes,
        skills: skillSet?.skills,
        cost,
        delivery: delivery && toDelivery(delivery),
      };
      const recipient = await service.updateRecipient(context, recipientId, change, expectedVersion(recordVersion));
      return create(UpdateRecipientResponseSchema, { recipient: await withLoad(context, recipient) });
    },

    async pauseRecipient(context, request) {
      const recipient = await service.pauseRecipient(context, request.recipientId, request);
      return create(PauseRecipientResponseSchema, { recipient: await withLoad(context, recipient) });
    },

    async resumeRecipient(context, request) {
      const recipient = await service.resumeRecipient(context, request.recipientId);
      return create(ResumeRecipientResponseSchema, { recipient: await withLoad(context, recipient) });
    },

    async deleteRecipient(context, request) {
      const recipient = await service.deleteRecipient(context, request.recipientId);
      const message = await withLoad(context, recipient);
      return create(DeleteRecipientResponseSchema, { recipient: { ...message, status: Status.REMOVED } });
    },
  };
}

const statuses = {
  active: Status.ACTIVE,
  paused: Status.PAUSED,
  draining: Status.DRAINING,
  offline: Status.OFFLINE,
} as const satisfies Record<RecipientStatus, Status>;

const allStatuses = { ...statuses, ejected: Status.EJECTED } as const;

const modes = { pull: Mode.PULL, push: Mode.PUSH, decision_only: Mode.DECISION_ONLY } as const;

function toNewRecipient(request: Omit<NewRecipientMessage, "$typeName" | "$unknown">): NewRecipient {
  const {
    mode = "pull",
    url = "",
    secretRef = "",
    action,
  } = request.delivery === undefined ? {} : toDelivery(request.delivery);
  return {
    name: request.name,
    status: nameOf(statuses, request.status) ?? "active",
    weight: request.weight ?? 100,
    capacity: request.capacity ?? 0,
    priority: request.priority ?? 100,
    attributes: request.attributes ?? {},
    skills: request.skills,
    cost: request.cost ?? 0,
    delivery: { mode, url, secretRef, ...(action !== undefined && action.key !== "" && { action }) },
  };
}

function toDelivery({ mode, url, secretRef, action }: RecipientDelivery) {
  return {
    mode: mode === undefined ? undefined : nameOf(modes, mode),
    url,
    secretRef,
    action: action && toAction(action),
  };
}

function toAction({ key, connectionId, input }: DeliveryActionMessage): DeliveryAction {
  return { key, connectionId, input: input as DeliveryAction["input"] };
}

function fromDelivery({ action, mode, ...rest }: Recipient["delivery"]) {
  const { key = "", connectionId = "", input } = action ?? {};
  return {
    ...rest,
    mode: modes[mode],
    ...(action !== undefined && { action: { key, connectionId, input: input as never } }),
  };
}

function fromRecipient(recipient: Recipient, load: RecipientLoad, nowMs: number): RecipientMessage {
  const ejected = isEjected(recipient, load, nowMs);
  return create(RecipientSchema, {
    id: recipient.id,
    tenantId: recipient.tenantId,
    poolId: recipient.poolId,
    name: recipient.name,
    status: ejected ? Status.EJECTED : statuses[recipient.status],
    weight: recipient.weight,
    capacity: recipient.capacity,
    priority: recipient.priority,
    attributes: recipient.attributes as never,
    skills: { ...recipient.skills },
    cost: recipient.cost,
    delivery: fromDelivery(recipient.delivery),
    inFlight: load.inFlight,
    lastAssignedAt: optionalTime(load.lastAssignedAt),
    ejectedUntil: optionalTime(futureOnly(load.ejectedUntil, nowMs)),
    deprioritizedUntil: optionalTime(futureOnly(load.deprioritizedUntil, nowMs)),
    availableSince: timestampFromDate(recipient.availableSince),
    pause: load.pause === null ? undefined : fromPause(load.pause),
    ...stampFields(recipient),
  });
}

function fromPause({ since, until, ...pause }: RecipientPause) {
  return { ...pause, since: timestampFromDate(since), until: optionalTime(until) };
}

/** Returns the time if it is in the future, and null otherwise. */
function futureOnly(time: Date | null, nowMs: number): Date | null {
  return time !== null && time.getTime() > nowMs ? time : null;
}
