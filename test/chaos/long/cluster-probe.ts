import { setTimeout as delay } from "node:timers/promises";
import { connect } from "../../harness/postgres-server.ts";
import { longestGapMs } from "./failover-load.ts";

/** Writes to a cluster without a node in between, to tell its own part of a gap from that of the nodes. */
export interface ClusterProbe {
  /** The longest time since this moment, by `performance.now()`, in which no commit was acknowledged. */
  longestGapMs(sinceMs: number): number;
  stop(): Promise<void>;
}

const everyMs = 100;
/** A write that takes longer is tried again on another connection. */
const giveUpMs = 1000;

export function startClusterProbe(url: string): ClusterProbe {
  const times: number[] = [];
  let isOver = false;

  async function write(): Promise<void> {
    const sql = connect(url, 1);
    const written = (async () => {
      await sql`create table if not exists probe (at timestamptz)`;
      await sql`insert into probe values (now())`;
      times.push(performance.now());
    })();
    await Promise.race([written, delay(giveUpMs)]).catch(() => {});
    written.catch(() => {});
    await sql.end({ timeout: 0 });
  }

  const writing = (async () => {
    while (!isOver) {
      await write();
      await delay(everyMs);
    }
  })();
  return {
    longestGapMs: (sinceMs) => longestGapMs(times, sinceMs),
    async stop() {
      isOver = true;
      await writing;
    },
  };
}
