import type { Io } from "../io.ts";

/** The signal that stops a node. */
export type StopSignal = "SIGTERM" | "SIGINT";

/** One Ctrl-C can arrive twice: from the terminal, and forwarded by a parent such as npm. */
const sameKeyPressMs = 500;
/** 128 plus the number of SIGINT, as in shells. */
const interrupted = 130;

/** Resolves with the first stop signal. A second Ctrl-C ends the process immediately. */
export function firstStopSignal(io: Io): Promise<StopSignal> {
  return new Promise((resolve) => {
    let interruptedAtMs: number | undefined;
    process.on("SIGTERM", () => resolve("SIGTERM"));
    process.on("SIGINT", () => {
      resolve("SIGINT");
      if (interruptedAtMs === undefined) {
        interruptedAtMs = performance.now();
        io.err("service: stopping; press Ctrl-C again to force\n");
      } else if (performance.now() - interruptedAtMs > sameKeyPressMs) {
        io.err("service: stopped by force; running calls were aborted\n");
        process.exit(interrupted);
      }
    });
  });
}
