import type { Io } from "../io.ts";

/** What asked a node to stop. */
export type StopSignal = "SIGTERM" | "SIGINT";

/** One Ctrl-C can arrive twice: from the terminal, and from a parent such as npm that passes it on. */
const sameKeyPressMs = 500;
/** 128 and the number of SIGINT, as shells have it. */
const interrupted = 130;

/** Resolves with the first signal to stop. A second Ctrl-C ends the process at once. */
export function firstStopSignal(io: Io): Promise<StopSignal> {
  return new Promise((resolve) => {
    let interruptedAtMs: number | undefined;
    process.on("SIGTERM", () => resolve("SIGTERM"));
    process.on("SIGINT", () => {
      resolve("SIGINT");
      if (interruptedAtMs === undefined) {
        interruptedAtMs = performance.now();
        io.err("service: stopping; press Ctrl-C again to end at once\n");
      } else if (performance.now() - interruptedAtMs > sameKeyPressMs) {
        io.err("service: ended at once; calls in flight were cut off\n");
        process.exit(interrupted);
      }
    });
  });
}
