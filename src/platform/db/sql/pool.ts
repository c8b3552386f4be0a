import { loopMsMin } from "../../jobs/repeated-task.ts";
import { Connection } from "./connection.ts";
import { connectionEnded } from "./connection-error.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { QuickReadConnections } from "./quick-read-connections.ts";
import { createSql, type Sql } from "./sql.ts";
import { Catalog } from "./statement/catalog.ts";
import type { ResultRows, RowLimit, Runner, Shape } from "./statement/statement.ts";
import { runTransaction } from "./transaction.ts";
import { type Abortable, type Waiter, WaitQueue } from "./wait-queue.ts";

export interface PoolOptions extends ConnectionSettings {
  readonly maxConnections: number;
  /** The idle time after which a connection is closed. */
  readonly idleMs?: number;
  /** The maximum number of callers that wait for a connection; more are refused immediately. */
  readonly waitersMax?: number;
  /** The maximum wait for a connection. Unlimited by default. */
  readonly waitMs?: number;
}

/** The connections of a pool. */
export interface PoolLoad {
  readonly busy: number;
  readonly idle: number;
  /** The most that may be open. */
  readonly max: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

/** A busy database runs some thousand transactions per second, so the last waiter waits for a few seconds. */
const defaultWaitersMax = 10_000;

/** The maximum number of statements in flight per connection while callers wait. */
const pipelineMax = 16;
/** After a stall, background loops run together. Connections that are kept until their next round would be used again each time. */
const defaultIdleMs = loopMsMin - 3000;
/** The delay between connection attempts, and so the delay until a recovered database is used. */
const retryMs = 250;
const sweepMs = 1000;
/** The connections that are opened at a time. Most callers of a burst get one that another caller has used before. */
const openingMax = 2;
/** An attempt that takes longer may hang at a server that was lost, and must not delay those that reach its successor. */
const hangMs = 1000;

/**
 * Connections to one database, opened on demand. A statement uses an idle connection, otherwise a new one, and at the
 * connection limit the one with the fewest statements in flight. A transaction has exclusive use of its connection.
 */
export class Pool implements Runner {
  readonly sql: Sql = createSql(this);
  private readonly url: string;
  private readonly options: PoolOptions;
  private readonly catalog = new Catalog();
  private readonly connections = new Set<Connection>();
  /** Connections without statements in flight, most recently used last. */
  private readonly idle: Connection[] = [];
  private readonly waiters: WaitQueue;
  private readonly quickReadConnections = new QuickReadConnections();
  private opening = 0;
  /** How many of them take longer than `hangMs`. */
  private hanging = 0;
  private retryAtMs = 0;
  private retryTimer: NodeJS.Timeout | undefined;
  private sweepTimer: NodeJS.Timeout | undefined;
  private suspects = new Set<Connection>();
  private ending: Promise<void> | undefined;
  private onDrained: () => void = () => {};

  constructor(url: string, options: PoolOptions) {
    this.url = url;
    this.options = options;
    const { waitersMax = defaultWaitersMax, waitMs = Number.POSITIVE_INFINITY } = options;
    this.waiters = new WaitQueue({ waitersMax, waitMs }, () => this.checkDrained());
  }

  run(shape: Shape, parameters: unknown[], limit?: RowLimit, caller?: Abortable): Promise<ResultRows<unknown>> {
    const connection = this.connectionFor(shape);
    if (connection === undefined) return this.whenShareable((later) => later.run(shape, parameters, limit), caller);
    const running = connection.run(shape, parameters, limit);
    this.keepIdle(connection);
    return running;
  }

  runText(text: string, caller?: Abortable): Promise<ResultRows<unknown>> {
    const connection = this.shareable();
    if (connection === undefined) return this.whenShareable((later) => later.runText(text), caller);
    return connection.runText(text);
  }

  /** The `sql` of one caller. When the caller is aborted, its statements that wait for a connection are dropped. */
  sqlFor(caller: Abortable): Sql {
    return createSql({
      run: (shape, parameters, limit) => this.run(shape, parameters, limit, caller),
      runText: (text) => this.runText(text, caller),
    });
  }

  /**
   * Runs statements in one transaction: committed when the work resolves, rolled back when it throws. An aborted caller
   * stops waiting for a connection; work that has started continues.
   */
  async transaction<T>(work: (tx: Sql) => Promise<T>, caller?: Abortable): Promise<T> {
    const connection = await this.acquire(caller);
    return runTransaction(connection, work, () => this.release(connection));
  }

  load(): PoolLoad {
    const idle = this.idle.length;
    return {
      ...{ busy: this.connections.size - idle, idle },
      ...{ max: this.options.maxConnections, waiting: this.waiters.size },
    };
  }

  /** Waits for statements in flight, up to a timeout, and closes all connections. */
  end(waitMs: number): Promise<void> {
    this.ending ??= this.close(waitMs);
    return this.ending;
  }

  private connectionFor(shape: Shape): Connection | undefined {
    if (!shape.isQuickRead || this.waiters.size > 0 || this.ending !== undefined) return this.shareable();
    const shared = this.quickReadConnections.choose();
    if (shared !== undefined) return shared;
    const connection = this.shareable();
    if (connection?.load === 0) this.quickReadConnections.add(connection);
    return connection;
  }

  /** A connection for a statement, unless other callers already wait. */
  private shareable(): Connection | undefined {
    if (this.ending !== undefined || this.waiters.size > 0) return undefined;
    const idle = this.idle.pop();
    if (idle !== undefined) return idle;
    return this.connections.size + this.opening < this.options.maxConnections ? undefined : this.leastLoaded();
  }

  private leastLoaded(): Connection | undefined {
    let found: Connection | undefined;
    for (const connection of this.connections) {
      if (!connection.isOwned && connection.load < (found?.load ?? pipelineMax)) found = connection;
    }
    // The next statement on it may be slow.
    if (found !== undefined) this.quickReadConnections.remove(found);
    return found;
  }

  private whenShareable(
    run: (connection: Connection) => Promise<ResultRows<unknown>>,
    caller: Abortable | undefined,
  ): Promise<ResultRows<unknown>> {
    return new Promise((resolve, reject) => {
      const use = (connection: Connection) => {
        run(connection).then(resolve, reject);
        this.keepIdle(connection);
      };
      this.wait({ isExclusive: false, caller, use, fail: reject });
    });
  }

  /** Returns a connection to the idle list when its statement failed before it was sent. */
  private keepIdle(connection: Connection): void {
    if (connection.load > 0 || connection.lost !== undefined) return;
    this.markIdle(connection);
  }

  private markIdle(connection: Connection): void {
    this.quickReadConnections.remove(connection);
    if (!this.idle.includes(connection)) this.idle.push(connection);
  }

  private acquire(caller: Abortable | undefined): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const use = (connection: Connection) => {
        connection.isOwned = true;
        resolve(connection);
      };
      this.wait({ isExclusive: true, caller, use, fail: reject });
    });
  }

  private release(connection: Connection): void {
    connection.isOwned = false;
    // A connection with an open transaction must not be reused.
    if (connection.lost === undefined && connection.isInTransaction) connection.destroy();
    else this.settled(connection);
  }

  private wait(waiter: Waiter): void {
    if (this.ending !== undefined) {
      waiter.fail(connectionEnded());
      return;
    }
    this.waiters.add(waiter);
    this.dispatch();
    this.waiters.watch(waiter);
  }

  /** Serves waiting callers in order, while connections are available. */
  private dispatch(): void {
    for (let first = this.waiters.first; first !== undefined; first = this.waiters.first) {
      const isFull = this.connections.size + this.opening >= this.options.maxConnections;
      const isShared = !first.isExclusive;
      const connection = this.idle.pop() ?? (isShared && isFull ? this.leastLoaded() : undefined);
      if (connection === undefined) break;
      this.waiters.shift();
      first.use(connection);
    }
    this.openMissing();
  }

  private openMissing(): void {
    const missing = () =>
      this.opening - this.hanging < Math.min(this.waiters.size, openingMax) &&
      this.connections.size + this.opening < this.options.maxConnections;
    while (missing()) {
      const delayMs = this.retryAtMs - performance.now();
      if (delayMs > 0) {
        this.retryTimer ??= setTimeout(() => {
          this.retryTimer = undefined;
          this.openMissing();
        }, delayMs);
        return;
      }
      void this.open();
    }
  }

  private async open(): Promise<void> {
    this.opening++;
    let isHanging = false;
    const timer = setTimeout(() => {
      isHanging = true;
      this.hanging++;
      this.openMissing();
    }, hangMs);
    const settled = () => {
      clearTimeout(timer);
      this.opening--;
      if (isHanging) this.hanging--;
    };
    try {
      const connection = await Connection.open(this.url, this.options, this.catalog);
      settled();
      this.add(connection);
    } catch (error) {
      settled();
      this.retryAtMs = performance.now() + retryMs;
      // Waiting callers can still use the other connections.
      if (this.connections.size === 0) {
        this.waiters.fail(error as Error, this.opening === 0 ? this.waiters.size : 1);
      }
      this.openMissing();
      this.checkDrained();
    }
  }

  private add(connection: Connection): void {
    if (this.ending !== undefined && this.waiters.size === 0) {
      void connection.close().then(() => this.checkDrained());
      return;
    }
    if (connection.lost !== undefined) {
      this.openMissing();
      return;
    }
    this.connections.add(connection);
    connection.onSettled = () => this.settled(connection);
    connection.onLost = () => this.remove(connection);
    this.sweepTimer ??= setInterval(() => this.sweep(), sweepMs).unref();
    this.settled(connection);
  }

  private remove(connection: Connection): void {
    this.connections.delete(connection);
    this.suspects.delete(connection);
    this.quickReadConnections.remove(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    if (this.connections.size === 0) {
      clearInterval(this.sweepTimer);
      this.sweepTimer = undefined;
    }
    this.openMissing();
    this.checkDrained();
  }

  private settled(connection: Connection): void {
    if (connection.isOwned || connection.lost !== undefined) return;
    if (connection.load === 0) this.markIdle(connection);
    if (this.waiters.size > 0) this.dispatch();
    if (this.ending !== undefined) this.checkDrained();
  }

  /** Closes connections that are idle for too long, too old, or silent for too long. */
  private sweep(): void {
    const { idleMs = defaultIdleMs, silenceMs = Number.POSITIVE_INFINITY } = this.options;
    const nowMs = performance.now();
    const suspects = new Set<Connection>();
    for (const connection of this.connections) {
      const quietMs = nowMs - connection.activeAtMs;
      const isIdle = this.idle.includes(connection);
      if (isIdle && (quietMs > idleMs || nowMs - connection.openedAtMs > connection.lifeMs)) {
        this.remove(connection);
        void connection.close();
      } else if (connection.load > 0 && quietMs > silenceMs) {
        // Closed only when found silent twice: after a pause of this process, buffered data is read in between.
        if (this.suspects.has(connection)) connection.destroy();
        else suspects.add(connection);
      }
    }
    this.suspects = suspects;
  }

  private async close(waitMs: number): Promise<void> {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    this.openMissing();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.onDrained = () => {
        clearTimeout(timer);
        resolve();
      };
      // Deferred, so that `ending` is set.
      setImmediate(() => this.checkDrained());
    });
    this.waiters.fail(connectionEnded());
    clearInterval(this.sweepTimer);
    await Promise.all(
      [...this.connections].map((connection) => {
        if (connection.load === 0 && !connection.isOwned) return connection.close();
        connection.destroy();
        return undefined;
      }),
    );
  }

  private checkDrained(): void {
    if (this.ending === undefined || this.waiters.size > 0 || this.opening > 0) return;
    if (this.idle.length === this.connections.size) this.onDrained();
  }
}
