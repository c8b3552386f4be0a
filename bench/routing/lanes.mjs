// The forms in which every participant is measured, so that comparisons are fair.

// Batches of a thousand use fewer callers: sixty-four of them would keep 64,000 items in flight.
const single = { form: "single", items: 1, callers: 64 };
const batch100 = { form: "batch of 100", items: 100, callers: 64 };
const batch1000 = { form: "batch of 1,000", items: 1_000, callers: 8 };

/** The accept lanes, and the numbers of workers that lease and complete. */
export const lanes = {
  single,
  batch100,
  batch1000,
  workers: [1, 4, 16],
  /** Decisions are timed one at a time, and with enough callers to keep two processors busy. */
  deciders: [
    { items: 1, callers: 1 },
    { items: 1, callers: 16 },
  ],
  drainForm: (workers, batching) => `${workers} worker${workers === 1 ? "" : "s"}, ${batching}`,
};

/** Adds `count` items, a thousand per call, with four concurrent calls. */
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
