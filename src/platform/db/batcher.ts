import { isDataError } from "./classify.ts";

/** Runs many callers' requests in few statements. */
export interface Batcher<In, Out> {
  /** Resolves with this request's own result, after the statement that carried it. */
  run(input: In): Promise<Out>;
  /** Resolves when nothing is in flight any more. */
  idle(): Promise<void>;
}

interface Waiting<In, Out> {
  readonly input: In;
  readonly weight: number;
  resolve(output: Out): void;
  reject(error: unknown): void;
}

interface Options<In, Out> {
  /** Runs one statement for all inputs and answers with one result an input, in order. */
  readonly flush: (inputs: In[]) => Promise<readonly Out[]>;
  /** How many statements may be in flight at once. */
  readonly lanes?: number;
  /** How much one statement carries; a request that is more than that travels alone. */
  readonly batchMax?: number;
  /** How much must wait before a statement begins beside one in flight: few large ones cost less than many small ones. */
  readonly besideMin?: number;
  /** How much a request is: 1 unless told. */
  readonly weigh?: (input: In) => number;
}

/**
 * Group commit: requests that arrive while a statement is in flight travel together in the next one.
 * There is no timer, so a lone request costs one round trip; a request whose data the database refuses
 * fails alone, because its batch is then run again in halves.
 */
export function createBatcher<In, Out>(options: Options<In, Out>): Batcher<In, Out> {
  const { flush, lanes = 1, batchMax = 500, besideMin = 1, weigh = () => 1 } = options;
  let queue: Waiting<In, Out>[] = [];
  let queued = 0;
  let inFlight = 0;
  let scheduled = false;
  let idlers: (() => void)[] = [];

  function mayBegin(): boolean {
    return queue.length > 0 && (inFlight === 0 || (inFlight < lanes && queued >= besideMin));
  }

  /** Takes from the queue what the next statement carries. */
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
    if (scheduled || !mayBegin()) return;
    scheduled = true;
    // Requests that were parsed from the same read of the sockets join the same batch.
    setImmediate(() => {
      scheduled = false;
      while (mayBegin()) {
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
