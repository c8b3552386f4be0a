import type { Clock } from "../clock/clock.ts";
import type { Fragment, Signals } from "../db/index.ts";
import { createRepeatedTask } from "../jobs/index.ts";
import type { Log } from "../log/log.ts";
import type { Shards } from "../shards/index.ts";

/** A kind of schedule: its statements and its action. */
interface ScheduleKind<Due extends { readonly shard: number }> {
  /** The singular of what the log calls these schedules. */
  readonly name: string;
  /** Signal topic for changes of schedules. */
  readonly topic: string;
  /** Schedules of these shards that need attention, in the order of their times, after one of them. */
  findDue(shards: readonly number[], nowMs: number, after: Due | undefined, limit: number): Promise<readonly Due[]>;
  /** A query for the time after another at which a schedule of these shards needs attention first. */
  nextDue(shards: readonly number[], afterMs: number): Fragment;
  /** Fires for the times that have come. `epoch` is that of this node's ownership of the shard. */
  handle(schedule: Due, epoch: number): Promise<void>;
}

interface Dependencies {
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly shards: Shards;
}

const batchSize = 100;

/** Creates the worker of this node for a kind of schedule. It handles the schedules of the shards that this node owns. */
export function createScheduleWorker<Due extends { readonly shard: number }>(
  { signals, clock, log, shards }: Dependencies,
  { name, topic, findDue, nextDue, handle }: ScheduleKind<Due>,
) {
  const task = createRepeatedTask({
    work: sweep,
    subscribe: ({ run, runWithin }) => [
      signals.onWake(topic, run),
      signals.onDue(
        () => nextDue([...shards.owned().keys()], 0),
        (_, atMs) => runWithin(atMs - clock.now()),
      ),
    ],
    onError: (error) => log.warn({ err: error }, `${name}s could not be handled`),
  });

  /** Handles the schedules that are due; returns when to do so again. */
  async function sweep(): Promise<number | undefined> {
    const owned = shards.owned();
    const shardIds = [...owned.keys()];
    if (shardIds.length === 0) return undefined;
    const nowMs = clock.now();
    for (let after: Due | undefined; ; ) {
      const due = await findDue(shardIds, nowMs, after, batchSize);
      const results = await Promise.allSettled(due.map((schedule) => handle(schedule, owned.get(schedule.shard)!)));
      const failure = results.find((result) => result.status === "rejected");
      if (failure !== undefined) log.warn({ err: failure.reason }, `a ${name} could not be handled`);
      after = due.at(-1);
      if (due.length < batchSize) break;
    }
    const [next] = await nextDue(shardIds, nowMs);
    return next && Math.max(next.dueAt.getTime() - clock.now(), 1);
  }

  return { ...task, sweep };
}
