import {
  type DeliveryAction as DeliveryActionMessage,
  RecipientDelivery_Mode as Mode,
  type NewRecipient as NewRecipientMessage,
  type RecipientDelivery,
  type RecipientService as Rpc,
  Recipient_Status as Status,
} from "../../../../../gen/service/api/recipient_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { enumNumbers, expectedVersion, nameOf } from "../../../../platform/records/index.ts";
import type { DeliveryAction } from "../domain/delivery-action.ts";
import {
  isEjected,
  type NewRecipient,
  noLoad,
  type Recipient,
  type RecipientLoad,
  type RecipientStatus,
} from "../domain/recipient.ts";
import { allPools } from "../environment-filter.ts";
import type { RecipientLoadReader } from "../work-store.ts";
import type { RecipientService } from "./recipient-service.ts";
import { recipientStore } from "./recipient-store.ts";

export function recipientHandlers(service: RecipientService, loads: RecipientLoadReader): Handlers<typeof Rpc> {
  async function withLoads({ sql, tenantId, nowMs }: Context, recipients: readonly Recipient[]) {
    const found = await loads.readLoads(sql, tenantId, recipients);
    return recipients.map((each) => fromRecipient(each, found.get(each.id) ?? noLoad, nowMs));
  }

  /** New recipients have no load; only paused ones have something to read. */
  async function fromCreated(context: Context, created: readonly Recipient[]) {
    const paused = created.find(({ status }) => status === "paused");
    if (paused !== undefined) return withLoads(context, created);
    return created.map((recipient) => fromRecipient(recipient, noLoad, context.nowMs));
  }

  async function withLoad(context: Context, recipient: Recipient) {
    return (await withLoads(context, [recipient]))[0]!;
  }

  return {
    async createRecipient(context, { poolId, ...request }) {
      const recipient = await service.createRecipient(context, poolId, toNewRecipient(request));
      return { recipient: (await fromCreated(context, [recipient]))[0] };
    },

    async batchCreateRecipients(context, { poolId, recipients }) {
      const created = await service.batchCreateRecipients(context, poolId, recipients.map(toNewRecipient));
      return { recipients: await fromCreated(context, created) };
    },

    async getRecipient(context, request) {
      return { recipient: await withLoad(context, await service.getRecipient(context, request.recipientId)) };
    },

    async listRecipients(context, request) {
      const { tenantId, sql, nowMs, principal } = context;
      const poolId = request.poolId === allPools ? undefined : await service.requirePoolId(context, request.poolId);
      const { name } = request;
      const status = nameOf(allStatuses, request.status);
      const chosen = [poolId, name, status, principal.environmentMode];
      const page = await context.page("recipients", request, chosen, (wanted) =>
        recipientStore(sql).list(tenantId, { poolId, name, status, principal, now: new Date(nowMs) }, wanted),
      );
      return { ...page, recipients: await withLoads(context, page.recipients) };
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
      return { recipient: await withLoad(context, recipient) };
    },

    async pauseRecipient(context, request) {
      const recipient = await service.pauseRecipient(context, request.recipientId, request);
      return { recipient: await withLoad(context, recipient) };
    },

    async resumeRecipient(context, request) {
      return { recipient: await withLoad(context, await service.resumeRecipient(context, request.recipientId)) };
    },

    async deleteRecipient(context, request) {
      const recipient = await service.deleteRecipient(context, request.recipientId);
      return { recipient: { ...(await withLoad(context, recipient)), status: Status.REMOVED } };
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

const modes = enumNumbers(Mode);

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

const fromRecipient = (recipient: Recipient, load: RecipientLoad, nowMs: number) => ({
  ...recipient,
  ...load,
  status: isEjected(recipient, load, nowMs) ? Status.EJECTED : statuses[recipient.status],
  delivery: { ...recipient.delivery, mode: modes[recipient.delivery.mode] },
  ejectedUntil: futureOnly(load.ejectedUntil, nowMs),
  deprioritizedUntil: futureOnly(load.deprioritizedUntil, nowMs),
});

/** Returns the time if it is in the future, and null otherwise. */
function futureOnly(time: Date | null, nowMs: number): Date | null {
  return time !== null && time.getTime() > nowMs ? time : null;
}
