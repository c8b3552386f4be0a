import type { Context } from "../../../../chain/call.ts";
import { type ExplainedStep, type ExplainedWait, type Explainer, linkTo } from "../../../explainer.ts";
import { createRecipientNames, type PoolReader, type RecipientNames } from "../../pools/index.ts";
import { type ItemState, isEndState, type QueueItem } from "../domain/queue-item.ts";
import { readQueueStatus } from "../queue-pauses.ts";
import { queueStore } from "../queue-store.ts";
import { explainItem, type ItemExplanation } from "./explanation-handler.ts";
import { findPoolOfItem } from "./explanation-store.ts";
import { offerSteps } from "./offer-steps.ts";

/** Explains queue items: their attempts, and what holds those that wait. */
export function createItemExplainer(pools: Pick<PoolReader, "requireKnownPool">): Explainer {
  return {
    kind: "queue_item",
    scope: "queue:read",
    async explain(context, { id }) {
      const { sql, tenantId } = context;
      const poolId = await findPoolOfItem(sql, tenantId, id);
      if (poolId === undefined) return undefined;
      const explanation = await explainItem(pools, context, poolId, id);
      const item = (await queueStore(sql).findItem(tenantId, poolId, id))!;
      const pool = await pools.requireKnownPool(context, poolId);
      const nameOf = createRecipientNames(context, pool);
      return {
        status: item.state,
        summary: summaryOf(item, nameOf),
        steps: stepsOf(item, nameOf),
        waits: [...(await pauseWaits(context, item)), ...waitsOf(item, explanation)],
        remedies: remediesOf(item, pool === undefined),
        links: linksOf(item),
      };
    },
  };
}

const endTexts: Partial<Readonly<Record<QueueItem["state"], string>>> = {
  completed: "was completed",
  dead_lettered: "failed for good and is a dead letter",
  cancelled: "was cancelled",
  expired: "expired before a worker completed it",
  drained: "was removed when its queue was drained",
};

function summaryOf({ state, recipientId, attempt, failures, supersededById }: QueueItem, nameOf: RecipientNames) {
  const name = nameOf(recipientId);
  const recipient = recipientId === "" ? "" : ` by the recipient ${name}`;
  const last = failures.at(-1);
  const cause =
    last === undefined
      ? ""
      : ` Attempt ${last.attempt} failed: ${last.reasonCode}${last.reason === "" ? "" : `, ${last.reason}`}.`;
  switch (state) {
    case "leased":
      return `The item is being worked on${recipient}, attempt ${attempt}.${cause}`;
    case "ready":
    case "pending":
    case "held":
      return `The item waits${recipientId === "" ? "" : ` for the recipient ${name}`}.${cause}`;
    case "superseded":
      return `The item was replaced by the item ${supersededById}.`;
    default:
      return `The item ${endTexts[state]}${state === "completed" ? recipient : ""}.${cause}`;
  }
}

function stepsOf(item: QueueItem, nameOf: RecipientNames): readonly ExplainedStep[] {
  const { failures, offers, leasedAt, attempt, recipientId, endedAt, state } = item;
  const steps: ExplainedStep[] = failures.map((failure) => ({
    at: new Date(failure.failedAtMs),
    code: "attempt_failed",
    subject: failure.recipientId,
    message: `Attempt ${failure.attempt} failed: ${failure.reasonCode}${failure.reason === "" ? "." : `, ${failure.reason}`}`,
  }));
  steps.push(...offerSteps(offers, nameOf));
  if (leasedAt !== null) {
    const message = `Attempt ${attempt} was leased to a worker.`;
    steps.push({ at: leasedAt, code: "leased", subject: recipientId, message });
  }
  if (endedAt !== null) steps.push({ at: endedAt, code: state, message: `The item ended as ${state}.` });
  return steps.sort((a, b) => a.at!.getTime() - b.at!.getTime());
}

const holdTexts: Readonly<Record<QueueItem["holdReason"], string>> = {
  "": "It waits until it is due.",
  not_before: "It waits for the time that the caller chose.",
  retry: "It waits for its next attempt.",
  rule: "A rule holds it.",
  debounce: "It waits for the end of its debounce window.",
  dependency: "It waits for other items.",
  offer: "It is offered to its recipient, which has not answered yet.",
};

/** A paused queue hands out none of its waiting items. */
async function pauseWaits(context: Context, { poolId, state }: QueueItem): Promise<readonly ExplainedWait[]> {
  if (state === "leased" || isEndState(state)) return [];
  const { paused, pauseReason, pausedUntil } = await readQueueStatus(context, poolId);
  if (!paused) return [];
  const message = `Its queue is paused${pauseReason === "" ? "" : ` (${pauseReason})`}, and hands out no item.`;
  return [{ code: "queue_paused", message, remedy: "Resume the queue.", until: pausedUntil ?? undefined }];
}

function waitsOf(item: QueueItem, explanation: ItemExplanation): readonly ExplainedWait[] {
  const { constraint, notBeforeMs, ahead } = explanation;
  const { state, holdReason, recipientId, assignReason, assignAfter, leaseUntil, expiresAt } = item;
  const until = notBeforeMs === undefined ? undefined : new Date(notBeforeMs);
  if (state === "leased") {
    const message = "It waits for the worker that leased it.";
    const remedy = "It is offered again when the lease expires.";
    return [{ code: "worker_busy", message, remedy, until: leaseUntil ?? undefined }];
  }
  if (holdReason === "dependency") return [dependencyWait(item, explanation)];
  if (state === "pending" || state === "held") {
    const code = holdReason === "" ? "not_due" : holdReason;
    const remedy =
      holdReason === "offer" ? "It goes to the next recipient when the offer expires." : "It continues by itself.";
    return [{ code, message: holdTexts[holdReason], remedy, until }];
  }
  if (state !== "ready") return [];
  if (constraint !== undefined) {
    const message = `The ${constraint.kind} limit of its group has no room; ${ahead} items of the group come first.`;
    return [{ code: constraint.kind, message, remedy: "It continues when the group has room.", until }];
  }
  if (recipientId === "" && assignReason !== null) {
    const message =
      assignReason === "all_refused"
        ? "Every recipient that may take it has declined it or let its offer expire."
        : `No recipient was found: ${assignReason}.`;
    const remedy = "It is assigned when a recipient can take it.";
    return [{ code: assignReason, message, remedy, until: assignAfter ?? undefined }];
  }
  const message =
    recipientId === "" ? "It waits for a worker that takes it." : "It waits for its recipient to lease it.";
  const remedy = "Start a worker that leases items of the pool.";
  return [{ code: "waiting_for_worker", message, remedy, until: expiresAt }];
}

function dependencyWait({ after }: QueueItem, { dependencies }: ItemExplanation): ExplainedWait {
  const unfinished = dependencies.filter(({ state }) => state !== "" && !isEndState(state as ItemState));
  const names = unfinished.map(({ queueItemId, state }) => `${queueItemId} (${state})`);
  const message = `It waits for ${names.length} of ${dependencies.length} items: ${names.join(", ")}.`;
  const otherwise = after?.onFailure === "run" ? "also if one of them fails" : "and is cancelled if one of them fails";
  return { code: "dependency", message, remedy: `It continues when they have ended, ${otherwise}.`, until: undefined };
}

function remediesOf({ state, poolId }: QueueItem, isPoolDeleted: boolean): readonly string[] {
  if (state !== "dead_lettered") return [];
  if (isPoolDeleted) return ["Its pool was deleted. Correct the cause, then route a new item to another pool."];
  return [`Correct the cause, then retry the dead letter: see GET /api/dlq/${poolId}.`];
}

function linksOf({ id, poolId, recipientId, supersededById, state }: QueueItem) {
  return [
    ...linkTo("queue_item", id, `/api/queues/${poolId}/items/${id}`),
    ...linkTo("admission", id, `/api/queues/${poolId}/items/${id}/admission-explanation`),
    ...linkTo("pool", poolId, `/api/pools/${poolId}`),
    ...linkTo("recipient", recipientId, `/api/recipients/${recipientId}`),
    ...linkTo("survivor", supersededById, `/api/queues/${poolId}/items/${supersededById}`, true),
    ...(state === "dead_lettered" ? linkTo("dead_letters", poolId, `/api/dlq/${poolId}`) : []),
  ];
}
