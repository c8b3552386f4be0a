import { setTimeout as delay } from "node:timers/promises";
import type { WorkflowStreamRecord } from "../../../../clients/typescript/src/index.ts";
import type { CreateWorkload } from "../workload.ts";

const definition = `
dsl: "1"
key: proof.stream
timeout: 1d
steps: [{ id: end, wait_event: { event: end, timeout: 1d } }]
`;
const batchSize = 50;
/** A stream accepts so many records that nobody has acknowledged. */
const recordsMax = 9000;
const stream_id = "records";
/** A subscription lasts so long. */
const subscribeMs = 1000;

/** Appends records to a stream of a run, alone and in batches, while a reader follows it by pages and subscriptions. */
export const createStreamWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, over, call } = context;
  const { value } = await call(
    (client, options) => client.workflowDefinitions.import({ text: definition, format: "yaml" }, options),
    "import stream",
  );
  const { id } = value.workflow_definition!;
  await call((client, options) => client.workflowDefinitions.publish({ id }, options), "publish stream");
  const started = await call(
    (client, options) => client.workflowRuns.start({ definition: "proof.stream" }, options),
    "start stream",
  );
  const run_id = started.value.run!.id;
  await call((client, options) => client.workflowStreams.create({ run_id, name: stream_id }, options), "create stream");

  const subjectOf = (record: string) => `${tenant.name}/${record}`;
  const appended = new Map<string, number>();
  const settled = new AbortController();
  over.addEventListener("abort", () => settled.abort());
  let records = 0;

  async function append(): Promise<void> {
    while (!loading.aborted && records < recordsMax) {
      const names = Array.from({ length: random() < 0.5 ? 1 : batchSize }, () => `record-${++records}`);
      const payloads = names.map((record) => ({ payload: { record } }));
      const answer = await call(async (client, options) => {
        if (payloads.length > 1) {
          const request = { run_id, stream_id, records: payloads };
          return (await client.workflowStreams.appendRecordBatch(request, options)).first_sequence;
        }
        const request = { run_id, stream_id, ...payloads[0]! };
        return (await client.workflowStreams.appendRecord(request, options)).sequence;
      }, names[0]!);
      const { startMs, endMs, node } = answer;
      for (const [at, record] of names.entries()) {
        const sequence = Number(answer.value) + at;
        appended.set(record, sequence);
        const facts = { sequence };
        history.record({
          ...{ kind: "acknowledged", name: "append", subject: subjectOf(record) },
          ...{ startMs, endMs, node, facts },
        });
      }
      await delay(random() * 40);
    }
  }

  const read = new Set<string>();
  /** Reads on from where the last read ended, until everything that was acknowledged has been read. */
  async function follow(): Promise<void> {
    let cursor = 0;
    for (let isLast = false; ; ) {
      isLast = settled.signal.aborted;
      const {
        value: records,
        startMs,
        endMs,
        node,
      } = await (isLast || random() < 0.5 ? readPage(cursor) : readLive(cursor));
      const sequences = records.map(({ sequence }) => Number(sequence));
      if (sequences.length === 0) {
        if (isLast) return;
        await delay(50);
        continue;
      }
      const [first, last] = [sequences[0]!, sequences.at(-1)!];
      history.record({
        ...{ kind: "observed", name: "page", subject: `${tenant.name}/${run_id} after ${cursor}` },
        ...{ startMs, endMs, node, facts: { after: cursor, first, last, records: sequences.length } },
      });
      for (const { payload, sequence } of records)
        observe(String((payload as { record: string }).record), Number(sequence));
      cursor = last;
    }
  }

  const readPage = (cursor: number) =>
    call(async (client) => {
      const { records } = await client.workflowStreams.readRecords({ run_id, stream_id, cursor, limit: 100 });
      return records;
    });

  /** Subscribes for a while. A subscription that its node ends has read what it brought. */
  const readLive = (cursor: number) =>
    call(async (client, options) => {
      const signal = AbortSignal.any([settled.signal, AbortSignal.timeout(subscribeMs)]);
      const records: WorkflowStreamRecord[] = [];
      try {
        const live = client.workflowStreams.subscribe({ run_id, stream_id, cursor }, { ...options, signal });
        for await (const record of live) records.push(record);
      } catch (error) {
        if (!signal.aborted && records.length === 0) throw error;
      }
      return records;
    });

  function observe(record: string, sequence: number): void {
    read.add(record);
    const nowMs = history.now();
    history.record({
      ...{ kind: "observed", name: "record", subject: subjectOf(record), startMs: nowMs, endMs: nowMs },
      facts: { sequence },
    });
  }

  const following = follow();
  following.catch(() => {});
  return {
    load: append,
    async settle() {
      settled.abort();
      await following;
      for (const record of appended.keys()) if (!read.has(record)) observe(record, 0);
    },
  };
};
