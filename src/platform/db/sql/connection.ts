import { Client, type ClientConfig, DatabaseError } from "pg";
import type { Catalog } from "./catalog.ts";
import { ConnectionError, connectionEnded, connectionLost } from "./connection-error.ts";
import {
  type ConnectionSettings,
  clientConfig,
  isTlsMissing,
  isTlsOptional,
  tlsFailure,
} from "./connection-settings.ts";
import {
  Description,
  type Execution,
  type ExecutionOwner,
  noColumns,
  PreparedExecution,
  type PreparedStatement,
  TextExecution,
  type Wire,
} from "./execution.ts";
import type { ResultRows, Runner, Shape } from "./statement.ts";
import type { ValueTypes } from "./value-types.ts";

/** Statements that a connection keeps prepared at most; each costs the server some tens of kilobytes. */
const preparedMax = 250;

/** How long a server may take to notice that a connection is closed. */
const closeMs = 1000;

/** A server that has become a standby: whoever takes its place is reached by a new connection only. */
const readOnly = "25006";

type Outcome = Promise<ResultRows<unknown>>;

/** One connection. Statements are sent as they come and answered in order, each in a transaction of its own. */
export class Connection implements Runner, ExecutionOwner {
  readonly openedAtMs = performance.now();
  /** When it is replaced, as soon as it is idle: between half an hour and an hour, so that not all are at once. */
  readonly lifeMs = (30 + 30 * Math.random()) * 60_000;
  readonly types: ValueTypes;
  readonly columnName: (name: string) => string;
  /** Whether a transaction owns it. */
  isOwned = false;
  /** Whether statements of this turn of the event loop are still to leave. */
  isCorked = false;
  /** When the last answer came, or the first statement after a pause was sent. */
  activeAtMs = performance.now();
  /** Why it cannot be used any more. */
  lost: ConnectionError | undefined = undefined;
  /** Called once, when it is lost or closed: its pool, and the transaction that owns it. */
  onLost: (error: ConnectionError) => void = ignore;
  onOwnerLost: (error: ConnectionError) => void = ignore;
  /** Called after each statement. */
  onSettled: () => void = ignore;

  private readonly client: Client;
  private readonly catalog: Catalog;
  private readonly prepared = new Map<Shape, PreparedStatement>();
  /** Names of statements that the server is to forget. */
  private dropped: string[] = [];
  private nameCount = 0;
  private useCount = 0;
  private inFlight = 0;
  /** The statement whose parameter types PostgreSQL is asked for; what comes after it waits, in order. */
  private describing: ((error: Error | undefined) => void) | undefined = undefined;
  private describedTypes: readonly number[] = [];
  private held: (() => void)[] = [];

  private constructor(client: Client, catalog: Catalog, settings: ConnectionSettings) {
    this.client = client;
    this.catalog = catalog;
    this.types = catalog.types;
    this.columnName = settings.columnName ?? same;
    client.on("error", (error) => this.lose(connectionLost(error)));
    client.on("end", () => this.lose(connectionEnded()));
    const wire = client.connection as unknown as Wire;
    wire.on("parameterDescription", ({ dataTypeIDs }) => {
      this.describedTypes = dataTypeIDs;
    });
  }

  static async open(url: string, settings: ConnectionSettings, catalog: Catalog): Promise<Connection> {
    const config = clientConfig(url, settings);
    try {
      return await Connection.connect(config, settings, catalog).catch((error: Error) => {
        if (!isTlsOptional(url) || !isTlsMissing(error)) throw error;
        return Connection.connect({ ...config, ssl: false }, settings, catalog);
      });
    } catch (error) {
      throw connectFailure(error as Error);
    }
  }

  private static async connect(config: ClientConfig, settings: ConnectionSettings, catalog: Catalog) {
    const client = new Client(config);
    const connection = new Connection(client, catalog, settings);
    try {
      await client.connect();
      if (!catalog.isRead) await connection.readCatalog(config.connectionTimeoutMillis);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  /** How many statements wait for their answer. */
  get load(): number {
    return this.inFlight + this.held.length;
  }

  /** Whether the server has left a transaction open. */
  get isInTransaction(): boolean {
    return this.client.getTransactionStatus() !== "I";
  }

  onNotification(listener: (channel: string, payload: string) => void): void {
    this.client.on("notification", ({ channel, payload }) => listener(channel, payload ?? ""));
  }

  run(shape: Shape, parameters: readonly unknown[], isRetry = false): Outcome {
    if (this.describing !== undefined) return this.hold(() => this.start(shape, parameters, isRetry));
    return this.start(shape, parameters, isRetry);
  }

  runText(text: string): Outcome {
    const start = () => this.submit(new TextExecution(this, text));
    return this.describing === undefined ? start() : this.hold(start);
  }

  cork(wire: Wire): void {
    if (this.isCorked) return;
    this.isCorked = true;
    wire.stream.cork();
    process.nextTick(uncork, this, wire);
  }

  uncork(wire: Wire): void {
    this.isCorked = false;
    wire.stream.uncork();
  }

  settled(execution: Execution, error: Error | undefined): Outcome | undefined {
    this.inFlight--;
    const nowMs = performance.now();
    if (error === undefined && execution instanceof PreparedExecution) {
      execution.run.shape.noteAnswer(nowMs - this.activeAtMs);
    }
    this.activeAtMs = nowMs;
    const again = error === undefined ? undefined : this.recover(execution, error);
    if (execution instanceof Description) this.resume(error);
    this.onSettled();
    return again;
  }

  /** Ends it in order. Resolves when it is closed, with or without the server's help. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), closeMs);
    await this.client.end();
    clearTimeout(timer);
  }

  /** Ends it at once; whatever waits for an answer fails. */
  destroy(): void {
    this.lose(connectionLost());
    this.client.connection.stream.destroy();
  }

  private start(shape: Shape, parameters: readonly unknown[], isRetry: boolean): Outcome {
    if (this.lost !== undefined) return Promise.reject(this.lost);
    let statement = this.prepared.get(shape);
    const types = statement?.types ?? this.catalog.parameterTypesOf(shape);
    if (types === undefined) return this.describe(shape, parameters, isRetry);
    let dropped: string[] | undefined;
    try {
      const values = new Array<string | Buffer | null>(parameters.length);
      for (let i = 0; i < parameters.length; i++) values[i] = this.types.serialize(parameters[i], types[i]!);
      if (statement === undefined) {
        statement = this.prepare(shape, types);
        dropped = this.dropped;
        this.dropped = [];
      }
      statement.usedAt = ++this.useCount;
      return this.submit(new PreparedExecution(this, { shape, parameters, isRetry, statement, values, dropped }));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  private submit(execution: Execution): Outcome {
    if (this.lost !== undefined) return Promise.reject(this.lost);
    if (this.inFlight++ === 0) this.activeAtMs = performance.now();
    this.client.query(execution as never);
    return execution.promise;
  }

  private prepare(shape: Shape, types: readonly number[]): PreparedStatement {
    if (this.prepared.size >= preparedMax) this.drop(this.leastRecentlyUsed());
    const statement = { name: `s${++this.nameCount}`, types, columns: noColumns, usedAt: 0 };
    this.prepared.set(shape, statement);
    return statement;
  }

  private leastRecentlyUsed(): Shape {
    let oldest: Shape | undefined;
    let usedAt = Number.POSITIVE_INFINITY;
    for (const [shape, statement] of this.prepared) {
      if (statement.usedAt < usedAt) [oldest, usedAt] = [shape, statement.usedAt];
    }
    return oldest!;
  }

  /** Has the server forget a statement, after those that are on their way. */
  private drop(shape: Shape): void {
    this.dropped.push(this.prepared.get(shape)!.name);
    this.prepared.delete(shape);
  }

  private describe(shape: Shape, parameters: readonly unknown[], isRetry: boolean): Outcome {
    const { promise, resolve, reject } = Promise.withResolvers<ResultRows<unknown>>();
    this.describing = (error) => {
      if (error !== undefined) return reject(error);
      this.catalog.keepParameterTypes(shape, this.describedTypes);
      this.start(shape, parameters, isRetry).then(resolve, reject);
    };
    this.submit(new Description(this, shape)).catch(ignore);
    return promise;
  }

  private hold(start: () => Outcome): Outcome {
    const { promise, resolve, reject } = Promise.withResolvers<ResultRows<unknown>>();
    this.held.push(() => start().then(resolve, reject));
    return promise;
  }

  /** Goes on after a description. Nothing comes in between, so that the order stays as it was. */
  private resume(error: Error | undefined): void {
    const described = this.describing!;
    this.describing = undefined;
    described(error);
    while (this.describing === undefined && this.held.length > 0) this.held.shift()!();
  }

  /** What follows from an error; the promise of another run when the statement was only not prepared as it should be. */
  private recover(execution: Execution, error: Error): Outcome | undefined {
    if (!(error instanceof DatabaseError)) return undefined;
    if (error.severity === "FATAL" || error.severity === "PANIC" || error.code === readOnly) {
      this.lose(connectionLost(error));
    }
    if (!(execution instanceof PreparedExecution)) return undefined;
    const { shape, parameters, statement, dropped, isRetry } = execution.run;
    const isPreparing = dropped !== undefined;
    // Statements that are pipelined behind one that could not be prepared get 26000; the first to run again prepares it.
    const isUnprepared = error.code === "26000" && !isPreparing;
    const isStale = isUnprepared || isStaleStatement(error, statement);
    // Whether it was prepared before it failed is not known.
    if ((isStale || isPreparing) && this.prepared.get(shape) === statement) this.drop(shape);
    if (!isStale) return undefined;
    this.catalog.forget(shape);
    // A transaction has failed as a whole.
    return this.isOwned || (isRetry && !isUnprepared) ? undefined : this.run(shape, parameters, true);
  }

  private lose(error: ConnectionError): void {
    if (this.lost !== undefined) return;
    this.lost = error;
    this.client.connection.stream.destroy();
    this.onOwnerLost(error);
    this.onLost(error);
  }

  /** Arrays of a schema's own types, such as domains, have ids of their own. */
  private async readCatalog(waitMs: number | undefined): Promise<void> {
    const timer = setTimeout(() => this.destroy(), waitMs);
    const rows = await this.runText(`
      select a.oid::int4, coalesce(nullif(e.typbasetype, 0), e.oid)::int4 as element
      from pg_type a join pg_type e on e.oid = a.typelem
      where a.typcategory = 'A' and a.oid >= 16384`).finally(() => clearTimeout(timer));
    this.types.addArrays((rows as unknown as { oid: number; element: number }[]).map((row) => [row.oid, row.element]));
    this.catalog.isRead = true;
  }
}

/** Whether a statement may have failed because the tables are not what they were when it was prepared or described. */
function isStaleStatement({ routine, code }: DatabaseError, { types }: PreparedStatement): boolean {
  if (routine === "RevalidateCachedQuery" || routine === "transformAssignedExpr") return true;
  // With parameter types that were right for another schema, a statement can fail in many ways, all of class 42.
  return types.length > 0 && code?.startsWith("42") === true;
}

function connectFailure(error: Error & { readonly code?: unknown }): Error {
  const insecure = tlsFailure(error);
  if (insecure !== undefined) return insecure;
  if (typeof error.code === "string") return error;
  if (error.message === "timeout expired") {
    return new ConnectionError("CONNECT_TIMEOUT", "PostgreSQL did not answer in time.", { cause: error });
  }
  return connectionLost(error);
}

function uncork(connection: Connection, wire: Wire): void {
  connection.uncork(wire);
}

function same(name: string): string {
  return name;
}

function ignore(): void {}
