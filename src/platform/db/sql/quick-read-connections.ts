import type { Connection } from "./connection.ts";

const connectionsMax = 4;
const loadMax = 8;

/**
 * The connections with only quick reads in flight. Quick reads share a few connections, even when others are idle: most of
 * their cost is the socket write, and reads on the same connection share it (decision 20 has the measurements).
 */
export class QuickReadConnections {
  private readonly connections: Connection[] = [];

  /** The connection for another quick read; undefined when there are too few or all are busy. */
  choose(): Connection | undefined {
    if (this.connections.length < connectionsMax) return undefined;
    let found: Connection | undefined;
    for (const connection of this.connections) if (connection.load < (found?.load ?? loadMax)) found = connection;
    return found;
  }

  add(connection: Connection): void {
    this.connections.push(connection);
  }

  /** Called when a connection becomes idle, is lost, or gets a statement that may be slow. */
  remove(connection: Connection): void {
    const at = this.connections.indexOf(connection);
    if (at >= 0) this.connections.splice(at, 1);
  }
}
