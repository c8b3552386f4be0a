import type { Connection } from "./connection.ts";

const lanesMax = 4;
const loadMax = 8;

/**
 * The connections that have nothing but quick reads in flight. Quick reads share a few of them, although others are
 * idle: most of what one costs is to write to a socket, and those that wait for the same connection leave together
 * (decision 20 has the numbers).
 */
export class QuickLanes {
  private readonly lanes: Connection[] = [];

  /** The connection that takes another quick read; undefined while there are too few, or all have enough to do. */
  choose(): Connection | undefined {
    if (this.lanes.length < lanesMax) return undefined;
    let found: Connection | undefined;
    for (const lane of this.lanes) if (lane.load < (found?.load ?? loadMax)) found = lane;
    return found;
  }

  add(connection: Connection): void {
    this.lanes.push(connection);
  }

  /** Called when a connection is idle or lost, or gets something that may be slow. */
  remove(connection: Connection): void {
    const at = this.lanes.indexOf(connection);
    if (at >= 0) this.lanes.splice(at, 1);
  }
}
