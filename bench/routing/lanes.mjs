// The forms in which everybody is measured, so that like is compared with like.

// Batches of a thousand go with fewer callers: sixty-four of them would hold 64,000 items in flight.
const single = { form: "single", items: 1, callers: 64 };
const batch100 = { form: "batch of 100", items: 100, callers: 64 };
const batch1000 = { form: "batch of 1,000", items: 1_000, callers: 8 };

/** The lanes of accepting, and the numbers of workers that lease and complete. */
export const lanes = {
  single,
  batch100,
  batch1000,
  workers: [1, 4, 16],
  /** Decisions are timed one at a time, and with as many callers as two processors keep busy. */
  deciders: [
    { items: 1, callers: 1 },
    { items: 1, callers: 16 },
  ],
  drainForm: (workers, batching) => `${workers} worker${workers === 1 ? "" : "s"}, ${batching}`,
};

/** Puts `count` items in, a thousand a call, four calls at once. */
export async function inBatches(count, addMany) {
  let left = count;
  const filler = async () => {
    while (left > 0) {
      const size = Math.min(left, 1_000);
      left -= size;
      await addMany(size);
    }
  };
  await Promise.all(Array.from({ length: 4 }, filler));
}
