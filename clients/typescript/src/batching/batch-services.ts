import type { Services } from "../gen/services.ts";
import { JsonList } from "../transport/http-request.ts";
import type { Transport } from "../transport/transport.ts";
import { type BatchingOptions, createBatcher, type ItemError, type ItemResult } from "./batcher.ts";

/** Returns the services with methods that send their calls in batches, where the API has an operation for them. */
export function batchServices(services: Services, transport: Transport, batching: BatchingOptions): Services {
  const { routing, work, workflowStreams: streams, experiments } = services;
  const batchCalls = createBatcher(transport, batching);

  const route = batchCalls(routing.route, {
    divide: ({ dry_run, ...item }) => [{ dry_run }, item],
    async send(scope, texts, options) {
      const { results } = await routing.routeBatch({ ...scope, items: listOf(texts) }, options);
      return results.map(({ decision, ...error }) => (decision === undefined ? { error } : { value: decision }));
    },
  });

  const completeItem = batchCalls(work.completeItem, {
    divide({ pool_id, cost, score, ...item }) {
      // The items of a batch have no ratings.
      return cost === undefined && score === undefined ? [{ pool_id }, item] : undefined;
    },
    async send(scope, texts, options) {
      return (await work.completeItems({ ...scope, items: listOf(texts) }, options)).results.map(toItemResult);
    },
  });

  const failItem = batchCalls(work.failItem, {
    // The items of a batch have one reason.
    divide: ({ queue_item_id, lease_token, ...scope }) => [scope, { queue_item_id, lease_token }],
    async send(scope, texts, options) {
      return (await work.failItems({ ...scope, items: listOf(texts) }, options)).results.map(toItemResult);
    },
  });

  const appendRecord = batchCalls(streams.appendRecord, {
    divide: ({ run_id, stream_id, wait_s, ...item }) => [{ run_id, stream_id, wait_s }, item],
    async send(scope, texts, options) {
      const batch = await streams.appendRecordBatch({ ...scope, records: listOf(texts) }, options);
      const { appended, first_sequence, appended_at } = batch;
      return texts.map((_, at) =>
        at < appended ? { value: { sequence: first_sequence + at, appended_at } } : ("again" as const),
      );
    },
  });

  const recordScore = batchCalls(experiments.recordScore, {
    divide: ({ experiment_id, environment_id, ...item }) => [{ experiment_id, environment_id }, item],
    async send(scope, texts, options) {
      const { results } = await experiments.recordScoreBatch({ ...scope, scores: listOf(texts) }, options);
      return results.map(({ score, error_code, error: error_message }) => {
        if (score !== undefined) return { value: score };
        // The result of a batch does not name the invalid fields.
        return error_code === "INVALID_ARGUMENT" ? ("alone" as const) : { error: { error_code, error_message } };
      });
    },
  });

  const assign = batchCalls(experiments.assign, {
    divide: ({ experiment_id, environment_id, ...item }) => [{ experiment_id, environment_id }, item],
    async send(scope, texts, options) {
      const { assignments } = await experiments.assignBatch({ ...scope, units: listOf(texts) }, options);
      return assignments.map((value) => ({ value }));
    },
  });

  return {
    ...services,
    routing: { ...routing, route },
    work: { ...work, completeItem, failItem },
    workflowStreams: { ...streams, appendRecord },
    experiments: { ...experiments, recordScore, assign },
  };
}

/** The items are JSON already, so they have no type. */
function listOf<Item>(texts: readonly string[]): readonly Item[] {
  return new JsonList(texts) as unknown as readonly Item[];
}

function toItemResult<Result extends ItemError>(result: Result): ItemResult<Result> {
  return result.error_code === "" ? { value: result } : { error: result };
}
