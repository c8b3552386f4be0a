import type { Signals } from "../../../../platform/db/index.ts";

/**
 * Where a queue begins, as whoever takes from it has seen. What was handed out leaves its traces in the index until
 * PostgreSQL cleans up; whoever always began at the very first would walk past all of them each time.
 */
export interface QueueFront {
  /** To be asked before one looks; `fromRank` is undefined when the queue is to be looked at from its beginning. */
  look(): Look;
  /** Everything up to a rank was taken, by whoever looked. */
  passed(look: Look, rank: number): void;
  /** The next look is from the beginning. */
  forget(): void;
  stop(): void;
}

interface Look {
  readonly fromRank: number | undefined;
  /** Which of the times between two wakes it was. */
  readonly age: number;
}

/** After a while one looks from the beginning: what somebody had and lost is there again, and wakes may be missed. */
const knownMs = 100;

/** Makes a front that holds until the topic's next wake: what has become ready may go before everything else. */
export function createQueueFront(
  signals: Pick<Signals, "onWake">,
  topic: string,
  nowMs = () => performance.now(),
): QueueFront {
  let rank: number | undefined;
  let untilMs = 0;
  let age = 0;
  const forget = () => {
    rank = undefined;
    age++;
  };
  const stop = signals.onWake(topic, forget);
  return {
    look() {
      if (rank !== undefined && nowMs() >= untilMs) forget();
      if (rank === undefined) untilMs = nowMs() + knownMs;
      return { fromRank: rank, age };
    },
    passed(look, to) {
      if (look.age === age) rank = to;
    },
    forget,
    stop,
  };
}
