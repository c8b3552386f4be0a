import type { RunWrite } from "./run-write.ts";

/** Pairs each part of the writes with the position of its write. */
export function partsOf<Part>(writes: readonly RunWrite[], parts: (write: RunWrite) => readonly Part[]) {
  return writes.flatMap((write, nth) => parts(write).map((part) => ({ nth, write, part })));
}
