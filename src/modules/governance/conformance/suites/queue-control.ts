import type { CaseContext, CaseSource, Json } from "../sandbox/index.ts";
import { completeItem, createPool, leaseAll, leaseOne, readItem, routeItem } from "./steps/pool-steps.ts";

/** Routes an item and returns its id. */
async function route(context: CaseContext, poolId: string, fields: object = {}): Promise<string> {
  return (await context.data("POST", "/api/route", { pool_id: poolId, type: "task", ...fields })).queue_item_id;
}

/** Routes two mails and a task, and returns the queue, the ids of the items, and what cancels the mails. */
async function routeMails(context: CaseContext) {
  const poolId = await createPool(context, {});
  const itemIds: string[] = [];
  for (const type of ["mail", "mail", "task"]) itemIds.push(await route(context, poolId, { type }));
  return { poolId, itemIds, cancelMails: { action: "cancel", filter: { type: "mail" } } };
}

async function readStates(context: CaseContext, poolId: string, itemIds: readonly string[]): Promise<string> {
  return (await Promise.all(itemIds.map((id) => readItem(context, poolId, id)))).map(({ state }) => state).join();
}

/** Cases about what callers and recipients do with items. */
export const queueControlCases: Readonly<Record<string, CaseSource>> = {
  "worker.dependency-order": {
    guarantee: "An item that waits for another one is leased when that one is completed, and not before.",
    async run(context) {
      const poolId = await createPool(context, {});
      const first = await route(context, poolId);
      const second = await route(context, poolId, { after: [first] });
      const leased = await leaseAll(context, poolId, 1);
      context.expect("items that are leased", leased.length, 1);
      context.expect("it is the first", leased[0]?.queue_item_id === first, true);
      await completeItem(context, leased[0]);
      context.expect("the second follows", (await leaseOne(context, poolId)).queue_item_id === second, true);
    },
  },
  "worker.result-kept": {
    guarantee: "The result of an item is returned to the caller that waits for it.",
    async run(context) {
      const poolId = await createPool(context, {});
      await routeItem(context, poolId);
      const { queue_item_id, lease_token } = await leaseOne(context, poolId);
      const path = `/api/queues/${poolId}/items/${queue_item_id}`;
      const waiting = context.data("GET", `${path}?wait_s=10`);
      await context.data("POST", `${path}/complete`, { lease_token, result: { pages: 5 } });
      const { state, result } = await waiting;
      context.expect("state", state, "completed");
      context.expect("result", result?.pages ?? 0, 5);
    },
  },
  "worker.pause-holds-items": {
    guarantee: "A paused queue accepts items and leases none.",
    async run(context) {
      const poolId = await createPool(context, {});
      await context.send("POST", `/api/queues/${poolId}/pause`, { body: { reason: "conformance" } });
      context.expect("outcome of an item", (await routeItem(context, poolId)).outcome, "queued");
      context.expect("items that are leased", (await leaseAll(context, poolId, 0)).length, 0);
      await context.send("POST", `/api/queues/${poolId}/resume`, { body: {} });
      const { state } = await completeItem(context, await leaseOne(context, poolId));
      context.expect("state after the resumption", state, "completed");
    },
  },
  "worker.strict-order": {
    guarantee: "A queue with strict priorities leases the highest one first.",
    async run(context) {
      const poolId = await createPool(context, { queue: { order: "strict_priority" } });
      for (const priority of [0, 1, 9]) await route(context, poolId, { priority });
      const leased = await leaseAll(context, poolId, 3);
      context.expect("priorities in the order of leases", leased.map(({ priority }) => priority ?? 0).join(), "9,1,0");
    },
  },
  "worker.paused-recipient": {
    guarantee: "A paused recipient is never chosen.",
    capabilities: ["routing"],
    async run(context) {
      const { id: poolId } = await context.data("POST", "/api/pools", { name: context.name(), strategy: "priority" });
      const add = async (name: string, priority: number): Promise<string> =>
        (await context.data("POST", `/api/pools/${poolId}/recipients`, { name, priority })).id;
      const [first, second] = [await add("first", 1), await add("second", 2)];
      context.expect("the first is chosen", (await routeItem(context, poolId)).recipient_id === first, true);
      await context.send("POST", `/api/recipients/${first}/pause`, { body: {} });
      context.expect("then the second", (await routeItem(context, poolId)).recipient_id === second, true);
    },
  },
  "worker.explanation": {
    guarantee: "An explanation says why a recipient did not get an item, and what the item waits for.",
    capabilities: ["explanations", "routing"],
    async run(context) {
      const poolId = await createPool(context, {});
      const recipients = `/api/pools/${poolId}/recipients`;
      for (const name of ["paused", "chosen"])
        await context.data("POST", recipients, { name, status: name === "paused" ? "STATUS_PAUSED" : "STATUS_ACTIVE" });
      const { steps, waits } = await context.data("GET", `/api/explain/${await route(context, poolId)}`);
      const messages: string[] = steps.map(({ message }: Json) => message);
      context.expect("it names the one that was chosen", messages.includes("chosen was chosen."), true);
      context.expect("it says why not the other", messages.includes("paused was paused."), true);
      context.expect("what the item waits for", waits[0]?.code ?? "", "waiting_for_worker");
    },
  },
  "worker.offer-declined": {
    guarantee: "An item that its recipient declines is offered to the next one, and uses up no attempt.",
    capabilities: ["reservations"],
    async run(context) {
      const { id: poolId } = await context.data("POST", "/api/pools", {
        ...{ name: context.name(), strategy: "priority", config: { reservation: { timeout_s: 300 } } },
      });
      const add = async (name: string, priority: number): Promise<string> =>
        (await context.data("POST", `/api/pools/${poolId}/recipients`, { name, priority, capacity: 1 })).id;
      const [first, second] = [await add("first", 1), await add("second", 2)];
      const item = `/api/queues/${poolId}/items/${await route(context, poolId)}`;
      const offerTo = async (recipient: string): Promise<Json> => {
        const list = () => context.data("GET", `/api/queues/${poolId}/offers?recipient_id=${recipient}&wait_s=5`);
        return context.need("the item is offered", (await context.until(list, ([offer]) => offer !== undefined))[0]);
      };
      const { offer_number } = await offerTo(first);
      await context.send("POST", `${item}/decline`, { body: { recipient_id: first, offer_number } });
      const next = { recipient_id: second, offer_number: (await offerTo(second)).offer_number };
      const accepted = await context.data("POST", `${item}/accept`, next);
      context.expect("number of the attempt", accepted.attempt, 1);
      const late = await context.send("POST", `${item}/accept`, { body: { recipient_id: first, offer_number } });
      context.expect("the first can accept it after all", late.status < 300, false);
    },
  },
  "worker.schedule": {
    guarantee: "A schedule follows the clocks of its time zone, and a run of it routes one item.",
    capabilities: ["schedules", "queues"],
    async run(context) {
      const poolId = await createPool(context, {});
      const timing = { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" };
      const item = { pool_id: poolId, type: "report" };
      const asked = { timing, item, after: "2027-03-26T00:00:00Z", count: 2 };
      const { times } = await context.data("POST", "/api/schedules:preview", asked);
      context.expect("a time in winter", times[0] ?? "", "2027-03-26T08:00:00Z");
      context.expect("a time in summer", times[1] ?? "", "2027-03-29T07:00:00Z");
      // A limit that would refuse the item of the schedule, in the background, refuses this one.
      await routeItem(context, poolId);
      await completeItem(context, await leaseOne(context, poolId));
      const { id } = await context.data("POST", "/api/schedules", { name: context.name(), timing, item });
      await context.data("POST", `/api/schedules/${id}:fire`, {});
      const { queue_item_id } = await leaseOne(context, poolId);
      const list = () => context.data("GET", `/api/schedules/${id}/runs`);
      const runs = await context.until(list, ([newest]) => newest?.state === "routed");
      context.expect("runs of the schedule", runs.length, 1);
      context.expect("its item is the one that was leased", runs[0]?.item_id === queue_item_id, true);
      await context.data("DELETE", `/api/schedules/${id}`);
    },
  },
  "worker.bulk-preview": {
    guarantee: "The preview of a bulk operation counts the items that it would change, and changes none.",
    async run(context) {
      const { poolId, itemIds, cancelMails } = await routeMails(context);
      const { count } = await context.data("POST", `/api/queues/${poolId}/bulk-operations:preview`, cancelMails);
      context.expect("items that are counted", count, 2);
      context.expect("states of the items", await readStates(context, poolId, itemIds), "ready,ready,ready");
    },
  },
  "worker.bulk-operation": {
    guarantee: "A bulk operation changes the items that match its filter, and no others.",
    async run(context) {
      const { poolId, itemIds, cancelMails } = await routeMails(context);
      const { id } = await context.data("POST", `/api/queues/${poolId}/bulk-operations`, cancelMails);
      const read = () => context.data("GET", `/api/bulk-operations/${id}`);
      const { changed_count } = await context.until(read, ({ state }) => state === "completed");
      context.expect("items that are changed", changed_count, 2);
      context.expect("states of the items", await readStates(context, poolId, itemIds), "cancelled,cancelled,ready");
    },
  },
};
