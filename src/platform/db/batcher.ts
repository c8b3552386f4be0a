import { isDataError } from "./classify.ts";

/** Combines the requests of many callers into few statements. */
export interface Batcher<In, Out> {
  /** Resolves with the result of this request, after its statement has completed. */
  run(input: In): Promise<Out>;
  /** Resolves when no statement is in flight and no request waits. */
  idle(): Promise<void>;
}

interface Waiting<In, Out> {
  readonly input: In;
  readonly weight: number;
  resolve(output: Out): void;
  reject(error: unknown): void;
}

interface Options<In, Out> {
  /** Runs one statement for all inputs and returns one result per input, in order. */
  readonly flush: (inputs: In[]) => Promise<readonly Out[]>;
  /** The maximum number of concurrent statements. */
  readonly lanes?: number;
  /** The maximum weight of one statement. A heavier request gets its own statement. */
  readonly batchMax?: number;
  /** The minimum waiting weight that starts a concurrent statement: few large statements cost less than many small ones. */
  readonly concurrentMin?: number;
  /** The weight of a request; 1 by default. */
  readonly weigh?: (input: In) => number;
}

/**
 * Group commit: requests that arrive while a statement is in flight share the next one. There is no timer, so a single
 * request costs one round trip. When the database rejects the data of a batch, the batch is retried in halves, so only the
 * invalid request fails.
 */
export function createBatcher<In, Out>(options: Options<In, Out>): Batcher<In, Out> {
  const { flush, lanes = 1, batchMax = 500, concurrentMin = 1, weigh = () => 1 } = options;
  let queue: Waiting<In, Out>[] = [];
  let queued = 0;
  let inFlight = 0;
  let scheduled = false;
  let idlers: (() => void)[] = [];

  function canStart(): boolean {
    return queue.length > 0 && (inFlight === 0 || (inFlight < lanes && queued >= concurrentMin));
  }

  /** Removes the requests of the next statement from the queue. */
  function nextBatch(): Waiting<In, Out>[] {
    let count = 0;
    let weight = 0;
    while (count < queue.length && (count === 0 || weight + queue[count]!.weight <= batchMax)) {
      weight += queue[count++]!.weight;
    }
    const batch = queue;
    queue = batch.splice(count);
    queued -= weight;
    return batch;
  }

  function schedule(): void {
    if (scheduled || !canStart()) return;
    scheduled = true;
    // Requests that were parsed in the same event loop iteration join the same batch.
    setImmediate(() => {
      scheduled = false;
      while (canStart()) {
        inFlight++;
        void settle(nextBatch()).finally(() => {
          inFlight--;
          if (inFlight === 0 && queue.length === 0) {
            for (const idle of idlers) idle();
            idlers = [];
          }
          schedule();
        });
      }
    });
  }

  async function settle(batch: Waiting<In, Out>[]): Promise<void> {
    try {
      const outputs = await flush(batch.map((each) => each.input));
      for (let i = 0; i < batch.length; i++) batch[i]!.resolve(outputs[i]!);
    } catch (error) {
      if (batch.length === 1 || !isDataError(error)) {
        for (const each of batch) each.reject(error);
        return;
      }
      const half = batch.length >> 1;
      await settle(batch.slice(0, half));
      await settle(batch.slice(half));
    }
  }

  return {
    run: (input) =>
      new Promise((resolve, reject) => {
        const weight = weigh(input);
        queue.push({ input, weight, resolve, reject });
        queued += weight;
        schedule();
      }),
    idle: () =>
      inFlight === 0 && queue.length === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)),
  };
}
