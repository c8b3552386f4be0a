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
  resolve(output: Out): void;
  reject(error: unknown): void;
}

interface Options<In, Out> {
  /** Runs one statement for all inputs and answers with one result an input, in order. */
  readonly flush: (inputs: In[]) => Promise<readonly Out[]>;
  /** How many statements may be in flight at once. */
  readonly lanes?: number;
  readonly batchMax?: number;
}

/**
 * Group commit: requests that arrive while a statement is in flight travel together in the next one.
 * There is no timer, so a lone request costs one round trip; a request whose data the database refuses
 * fails alone, because its batch is then run again in halves.
 */
export function createBatcher<In, Out>({ flush, lanes = 1, batchMax = 500 }: Options<In, Out>): Batcher<In, Out> {
  let queue: Waiting<In, Out>[] = [];
  let inFlight = 0;
  let scheduled = false;
  let idlers: (() => void)[] = [];

  function schedule(): void {
    if (scheduled || inFlight >= lanes || queue.length === 0) return;
    scheduled = true;
    // Requests that were parsed from the same read of the sockets join the same batch.
    setImmediate(() => {
      scheduled = false;
      while (inFlight < lanes && queue.length > 0) {
        const batch = queue.length <= batchMax ? queue : queue.slice(0, batchMax);
        queue = queue.length <= batchMax ? [] : queue.slice(batchMax);
        inFlight++;
        void settle(batch).finally(() => {
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
        queue.push({ input, resolve, reject });
        schedule();
      }),
    idle: () =>
      inFlight === 0 && queue.length === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)),
  };
}
