import { ulid } from "../../../src/platform/ids/ulid.ts";
import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";
import { makePool, makeRecipient } from "./pools.ts";

/** Work items in every state that an operation requires. */
export const routingRequests: Known = {
  // A pool with earlier routing: the decision snapshot is stored once, even for a rejected call.
  "RoutingService/Route": (party) => waiting(party).then(({ pool_id }) => ({ pool_id })),
  "RoutingService/RouteBatch": async (party) => ({ items: items((await waiting(party)).pool_id, 1) }),
  "RoutingService/GetDecision": decision,
  "RoutingService/ReplayDecision": decision,
  "RoutingService/ListDecisions": (party) => givenOut(party),
  // Either the decision or the item: a request with both is rejected.
  "OutcomeService/RecordOutcome": async (party) => ({ ...(await decision(party)), queue_item_id: "" }),
  "OutcomeService/GetOutcome": async (party) => {
    const named = await decision(party);
    await must("OutcomeService/RecordOutcome", party, { ...named, status: "success" });
    return named;
  },

  "QueueService/ListQueues": async (party) => {
    await makePool(party);
    return { tenant_id: party.tenantId };
  },
  "QueueService/ListQueueItems": (party) => givenOut(party),
  "QueueService/GetQueueItem": waitingItem,
  "QueueService/CancelQueueItem": waitingItem,
  // More items than one call drains, so that draining twice would be visible.
  "QueueService/DrainQueue": async (party) => ({ pool_id: (await waiting(party, 7)).pool_id, max_items: 1 }),
  "QueueService/AssignQueueItem": async (party) => {
    const pool_id = await stillPool(party, { strategy: "manual" });
    const recipient_id = await makeRecipient(party, pool_id);
    return { pool_id, recipient_id, queue_item_id: (await routeTo(party, pool_id))[0] };
  },

  "WorkService/LeaseItems": (party) => givenOut(party, 7),
  "WorkService/HeartbeatItem": leased,
  "WorkService/CompleteItem": leased,
  "WorkService/FailItem": leased,
  "WorkService/CompleteItems": leasedMany,
  "WorkService/FailItems": leasedMany,

  "AdmissionService/PreviewAdmission": async (party) => ({
    pool_id: await singletonPool(party),
    item: { type: "matrix", key: freshWord() },
  }),
  "AdmissionService/ExplainAdmission": waitingItem,
  "AdmissionService/ListAdmissionGroups": async (party) => {
    const { pool_id, environment_id } = await group(party);
    return { pool_id, environment_id };
  },
  "AdmissionService/GetAdmissionGroup": groupNamed,
  "AdmissionService/ClearAdmissionGroup": groupNamed,

  "DeadLetterService/ListDeadLetters": (party) => deadLetter(party).then(({ pool_id }) => ({ pool_id })),
  "DeadLetterService/RetryAllDeadLetters": (party) => deadLetter(party).then(({ pool_id }) => ({ pool_id })),
  "DeadLetterService/PurgeDeadLetters": (party) => deadLetter(party).then(({ pool_id }) => ({ pool_id })),
  "DeadLetterService/RetryDeadLetters": deadLetter,
  "DeadLetterService/QuarantineDeadLetters": deadLetter,

  "AnomalyService/GetAnomaly": async (party) => ({ anomaly_id: (await keepAnomaly(party)).id }),
  "AnomalyService/ListAnomalies": async (party) => {
    const { pool_id, recipient_id } = await keepAnomaly(party);
    return { pool_id, recipient_id };
  },
};

/** A pool without background changes during a test: leases are long, and failed items are not retried soon. */
function stillPool(party: Party, more: Json = {}): Promise<string> {
  const { config, ...rest } = more;
  const hour = { lease: { duration_s: 3600 }, retry: { initial_ms: 3_600_000, max_ms: 3_600_000 } };
  return makePool(party, { ...rest, config: { ...hour, ...(config as Json) } });
}

function items(poolId: string, count: number): Json[] {
  return Array.from({ length: count }, () => ({ pool_id: poolId, type: "matrix", key: freshWord() }));
}

/** Routes items to a pool; returns their ids. */
async function routeTo(party: Party, poolId: string, count = 1): Promise<string[]> {
  const { body } = await must("RoutingService/RouteBatch", party, { items: items(poolId, count) });
  return body.data.results.map((result: { decision: { queue_item_id: string } }) => result.decision.queue_item_id);
}

/** A pool without recipients, where items stay queued. */
async function waiting(party: Party, count = 1): Promise<{ pool_id: string; ids: string[] }> {
  const pool_id = await stillPool(party);
  return { pool_id, ids: await routeTo(party, pool_id, count) };
}

/** Items that wait for the only recipient of their pool. */
async function givenOut(party: Party, count = 1): Promise<Json> {
  const pool_id = await stillPool(party);
  const recipient_id = await makeRecipient(party, pool_id);
  await routeTo(party, pool_id, count);
  return { pool_id, recipient_id };
}

async function waitingItem(party: Party): Promise<Json> {
  const { pool_id, ids } = await waiting(party);
  return { pool_id, queue_item_id: ids[0] };
}

async function decision(party: Party): Promise<Json> {
  const { ids } = await waiting(party);
  return { decision_id: ids[0] };
}

/** A leased item. */
async function leased(party: Party): Promise<{ pool_id: string; queue_item_id: string; lease_token: string }> {
  const { pool_id } = await waiting(party);
  const { body } = await must("WorkService/LeaseItems", party, { pool_id });
  const { queue_item_id, lease_token } = body.data.items[0];
  return { pool_id, queue_item_id, lease_token };
}

async function leasedMany(party: Party): Promise<Json> {
  const { pool_id, ...item } = await leased(party);
  return { pool_id, items: [item] };
}

async function deadLetter(party: Party): Promise<Json> {
  const { pool_id, ...item } = await leased(party);
  await must("WorkService/FailItems", party, { pool_id, items: [item], retryable: false });
  return { pool_id, queue_item_ids: [item.queue_item_id] };
}

function singletonPool(party: Party): Promise<string> {
  return stillPool(party, { config: { admission: { singleton: { key: "item.key" } } } });
}

/** A concurrency group whose only slot is taken. */
async function group(party: Party): Promise<Json> {
  const pool_id = await singletonPool(party);
  await routeTo(party, pool_id);
  const { body } = await must("AdmissionService/ListAdmissionGroups", party, { pool_id });
  return body.data[0];
}

async function groupNamed(party: Party): Promise<Json> {
  const { pool_id, constraint_kind, group_id } = await group(party);
  return { pool_id, constraint_kind, group_id };
}

/** Stores an anomaly of a recipient directly, because the service needs hours of outcomes to detect one. */
async function keepAnomaly(party: Party) {
  const pool_id = await stillPool(party);
  const recipient_id = await makeRecipient(party, pool_id);
  const id = ulid(Date.now());
  await party.sql`
    insert into anomalies (tenant_id, id, pool_id, recipient_id, method, metric, value, baseline, threshold, actions,
      detected_at)
    values (${party.tenantId}, ${id}, ${pool_id}, ${recipient_id}, 'zscore', 'latency_ms', 9, 1, 3, '{log}', now())`;
  return { id, pool_id, recipient_id };
}
