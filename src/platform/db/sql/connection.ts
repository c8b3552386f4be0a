import { Client, DatabaseError } from "pg";
import {
  type ConnectionError,
  commitUnreplicated,
  connectionEnded,
  connectionLost,
  connectionUnsuitable,
  connectTimeout,
} from "./connection-error.ts";
import {
  type ClientOptions,
  type ConnectionSettings,
  clientOptions,
  isTlsMissing,
  isTlsOptional,
  tlsFailure,
} from "./connection-settings.ts";
import type { AppliedSettings, SessionSettings } from "./session-settings.ts";
import type { Catalog } from "./statement/catalog.ts";
import { CopyInExecution, CopyOutExecution, type CopySink } from "./statement/copy-execution.ts";
import {
  Description,
  type Execution,
  type ExecutionOwner,
  LimitedExecution,
  noColumns,
  PreparedExecution,
  type PreparedRun,
  type PreparedStatement,
  TextExecution,
  type Wire,
} from "./statement/execution.ts";
import type { ResultRows, RowLimit, Runner, Shape } from "./statement/statement.ts";
import type { ValueTypes } from "./statement/value-types.ts";

/** The maximum number of prepared statements per connection; each costs the server some tens of kilobytes. */
const preparedMax = 250;

/** How long a server may take to notice that a connection is closed. */
const closeMs = 1000;

/** The server has become a standby; only a new connection reaches the new primary. */
const readOnly = "25006";

/**
 * The server's function that waits until standbys have a commit. A warning from it says that the wait was cancelled. Unlike the text
 * of the warning, the name is never translated.
 */
const replicationWait = "SyncRepWaitForLSN";

const unnamedBegin = { name: "", text: "begin" };

const lostStatements =
  "The pooler before PostgreSQL gives each transaction another session and loses prepared statements. Use PgBouncer 1.21 or newer " +
  "with max_prepared_statements, or pool_mode = session, or connect to PostgreSQL itself.";

type Outcome = Promise<ResultRows<unknown>>;

/** One pipelined connection. Statements are sent immediately and complete in order, each in its own transaction. */
export class Connection implements Runner, ExecutionOwner {
  readonly openedAtMs = performance.now();
  /** The time after which the idle connection is replaced: 30 to 60 minutes, random to spread the replacements. */
  readonly lifeMs = (30 + 30 * Math.random()) * 60_000;
  readonly types: ValueTypes;
  readonly columnName: (name: string) => string;
  /** Whether a transaction owns the connection. */
  isOwned = false;
  /** Whether statements of this event loop iteration are still buffered. */
  isCorked = false;
  /** The time of the last response, or of the first statement after a pause. */
  activeAtMs = performance.now();
  /** Why the connection is unusable. */
  lost: ConnectionError | undefined = undefined;
  /** Called once when the connection is lost or closed: the pool, and the transaction that owns it. */
  onLost: (error: ConnectionError) => void = ignore;
  onOwnerLost: (error: ConnectionError) => void = ignore;
  /** Called after each statement. */
  onSettled: () => void = ignore;

  private readonly client: Client;
  private readonly catalog: Catalog;
  private readonly session: SessionSettings;
  /** Behind a pooler: the prepared statement that gives a transaction its settings. */
  private localSettings: PreparedStatement | undefined = undefined;
  private readonly prepared = new Map<Shape, PreparedStatement>();
  /** Names of prepared statements to close on the server. */
  private dropped: string[] = [];
  private nameCount = 0;
  private useCount = 0;
  private inFlight = 0;
  /** The statement that PostgreSQL is describing; later statements wait in order. */
  private describing: ((error: Error | undefined) => void) | undefined = undefined;
  private describedTypes: readonly number[] = [];
  /**
   * The statement in flight that would be ended by a later one, or that begins a transaction, without which a later one must not run.
   * Later statements wait in order.
   */
  private exclusive: Execution | undefined = undefined;
  private held: (() => void)[] = [];
  /** Whether a transaction begins with the next statement. */
  private isBeginning = false;

  private constructor(client: Client, catalog: Catalog, session: SessionSettings, settings: ConnectionSettings) {
    this.client = client;
    this.catalog = catalog;
    this.session = session;
    this.types = catalog.types;
    this.columnName = settings.columnName ?? same;
    client.on("error", (error) => this.lose(connectionLost(error)));
    client.on("end", () => this.lose(connectionEnded()));
    client.on("notice", ({ routine }) => {
      // PostgreSQL reports the commit as successful nevertheless.
      if (routine === replicationWait) this.lose(commitUnreplicated());
    });
    const wire = client.connection as unknown as Wire;
    wire.on("parameterDescription", ({ dataTypeIDs }) => {
      this.describedTypes = dataTypeIDs;
    });
  }

  static async open(url: string, settings: ConnectionSettings, catalog: Catalog): Promise<Connection> {
    const options = clientOptions(url, settings);
    try {
      return await Connection.connect(options, settings, catalog).catch((error: Error) => {
        if (!isTlsOptional(url) || !isTlsMissing(error)) throw error;
        return Connection.connect({ ...options, config: { ...options.config, ssl: false } }, settings, catalog);
      });
    } catch (error) {
      throw connectFailure(error as Error);
    }
  }

  private static async connect({ config, session }: ClientOptions, settings: ConnectionSettings, catalog: Catalog) {
    const client = new Client(config);
    const connection = new Connection(client, catalog, session, settings);
    // A pooler accepts a connection that it has no server for.
    const unanswered = setTimeout(() => connection.lose(connectTimeout()), config.connectionTimeoutMillis);
    try {
      await client.connect();
      await connection.applySettings();
      return connection;
    } catch (error) {
      connection.destroy();
      throw connection.lost?.code === "CONNECT_TIMEOUT" ? connection.lost : error;
    } finally {
      clearTimeout(unanswered);
    }
  }

  /** The number of statements in flight. */
  get load(): number {
    return this.inFlight + this.held.length;
  }

  /** Whether the server has left a transaction open. */
  get isInTransaction(): boolean {
    return this.client.getTransactionStatus() !== "I";
  }

  /** Whether a pooler stands before the server. */
  get isPooled(): boolean {
    return this.localSettings !== undefined;
  }

  onNotification(listener: (channel: string, payload: string) => void): void {
    this.client.on("notification", ({ channel, payload }) => listener(channel, payload ?? ""));
  }

  run(shape: Shape, parameters: readonly unknown[], limit?: RowLimit, isRetry = false): Outcome {
    const start = () => this.start(shape, parameters, limit, isRetry);
    return this.isHolding ? this.hold(start) : start();
  }

  /**
   * Begins a transaction with the settings of the connection. The caller owns the connection. Without a pooler, BEGIN is sent with
   * the first statement, which PostgreSQL does not run if BEGIN fails, and costs no round trip.
   */
  async begin(): Promise<void> {
    if (this.isPooled) await this.runText(this.session.begin);
    else this.isBeginning = true;
  }

  /** Ends the transaction; resolves with the command that PostgreSQL ran, or undefined if there was no statement. */
  async end(shape: Shape): Promise<string | undefined> {
    if (!this.isBeginning || this.load > 0) return (await this.run(shape, [])).command;
    this.isBeginning = false;
    return undefined;
  }

  runText(text: string): Outcome {
    const start = () => this.submit(new TextExecution(this, this.withBegin(text)));
    return this.isHolding ? this.hold(start) : start();
  }

  /** Runs `copy … to stdout`. No other statement may run meanwhile. */
  copyOut(text: string, sink: CopySink): Outcome {
    return this.submit(new CopyOutExecution(this, this.withBegin(text), sink));
  }

  /** Runs `copy … from stdin`. No other statement may run meanwhile. */
  copyIn(text: string): CopyInExecution {
    const execution = new CopyInExecution(this, this.withBegin(text));
    void this.submit(execution);
    return execution;
  }

  private withBegin(text: string): string {
    if (!this.isBeginning) return text;
    this.isBeginning = false;
    return `begin; ${text}`;
  }

  private get isHolding(): boolean {
    return this.describing !== undefined || this.exclusive !== undefined;
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
    if (execution === this.exclusive) this.exclusive = undefined;
    const again = error === undefined ? undefined : this.recover(execution, error);
    if (execution instanceof Description) this.resumeDescribed(error);
    this.resume();
    this.onSettled();
    return again;
  }

  /** Closes the connection gracefully. Resolves when it is closed, even if the server does not respond. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), closeMs);
    await this.client.end();
    clearTimeout(timer);
  }

  /** Closes the connection immediately; statements in flight fail. */
  destroy(): void {
    this.lose(connectionLost());
    this.client.connection.stream.destroy();
  }

  /** Gives statements the settings of the connection, and makes sure that they have them. */
  private async applySettings(): Promise<void> {
    const { session } = this;
    try {
      const [applied] = (await this.runText(session.apply(this.processId))) as readonly AppliedSettings[];
      if (applied!.pooled) {
        const statement = { name: "local_settings", types: [], columns: noColumns, usedAt: 0 };
        const run = { shape: session.local, parameters: [], values: [], limit: undefined, isRetry: true };
        await this.submit(new PreparedExecution(this, { ...run, statement, dropped: [], before: undefined }));
        this.localSettings = statement;
      }
      const [current] = (await this.run(session.current, [])) as readonly Record<string, unknown>[];
      const [needed, found] = [session.valuesOf(applied!), session.valuesOf(current!)];
      if (needed !== found) throw connectionUnsuitable(`A session has lost its settings: ${found}, not ${needed}.`);
    } catch (error) {
      throw isStatementLost(error) ? connectionUnsuitable(lostStatements, error) : error;
    }
  }

  private get processId(): number {
    return (this.client as unknown as { readonly processID: number | null }).processID ?? 0;
  }

  private start(shape: Shape, parameters: readonly unknown[], limit: RowLimit | undefined, isRetry: boolean): Outcome {
    if (this.lost !== undefined) return Promise.reject(this.lost);
    let statement = this.prepared.get(shape);
    const types = statement?.types ?? this.catalog.parameterTypesOf(shape);
    if (types === undefined) return this.describe(shape, () => this.start(shape, parameters, limit, isRetry));
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
      const before = this.before();
      const run = { shape, parameters, limit, isRetry, statement, values, dropped, before };
      if (limit === undefined) return this.submit(new PreparedExecution(this, run), before === unnamedBegin);
      const execution = new LimitedExecution(this, run, limit);
      return this.submit(execution, execution.isExclusive || before === unnamedBegin);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** What runs before the next statement. Behind a pooler, a transaction begins with the settings. */
  private before(): PreparedRun["before"] {
    if (!this.isBeginning) return this.isOwned ? undefined : this.localSettings;
    this.isBeginning = false;
    return unnamedBegin;
  }

  private submit(execution: Execution, isExclusive = false): Outcome {
    if (this.lost !== undefined) return Promise.reject(this.lost);
    if (isExclusive) this.exclusive = execution;
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

  /** Closes a prepared statement on the server, after the statements in flight. */
  private drop(shape: Shape): void {
    this.dropped.push(this.prepared.get(shape)!.name);
    this.prepared.delete(shape);
  }

  private describe(shape: Shape, start: () => Outcome): Outcome {
    const { promise, resolve, reject } = Promise.withResolvers<ResultRows<unknown>>();
    this.describing = (error) => {
      if (error !== undefined) return reject(error);
      this.catalog.keepParameterTypes(shape, this.describedTypes);
      start().then(resolve, reject);
    };
    this.submit(new Description(this, shape)).catch(ignore);
    return promise;
  }

  private hold(start: () => Outcome): Outcome {
    const { promise, resolve, reject } = Promise.withResolvers<ResultRows<unknown>>();
    this.held.push(() => start().then(resolve, reject));
    return promise;
  }

  private resumeDescribed(error: Error | undefined): void {
    const described = this.describing!;
    this.describing = undefined;
    described(error);
  }

  /** Sends held statements, synchronously, to preserve the order of statements. */
  private resume(): void {
    while (!this.isHolding && this.held.length > 0) this.held.shift()!();
  }

  /** Handles an error; returns the promise of a retry when only the prepared statement was missing or outdated. */
  private recover(execution: Execution, error: Error): Outcome | undefined {
    if (!(error instanceof DatabaseError)) return undefined;
    if (error.severity === "FATAL" || error.severity === "PANIC" || error.code === readOnly) {
      this.lose(connectionLost(error));
    }
    if (!(execution instanceof PreparedExecution)) return undefined;
    const { shape, parameters, limit, statement, dropped, isRetry, before } = execution.run;
    if (before === unnamedBegin && execution.isBefore) this.isBeginning = true;
    const isPreparing = dropped !== undefined;
    // Statements pipelined behind one that could not be prepared fail with 26000; the first retry prepares it.
    const isUnprepared = error.code === "26000" && !isPreparing;
    const isStale = isUnprepared || isStaleStatement(error, statement);
    // It is unknown whether the statement was prepared before it failed.
    if ((isStale || isPreparing) && this.prepared.get(shape) === statement) this.drop(shape);
    if (!isStale) return undefined;
    this.catalog.removeParameterTypes(shape);
    // In a transaction, an error fails the whole transaction.
    return this.isOwned || (isRetry && !isUnprepared) ? undefined : this.run(shape, parameters, limit, true);
  }

  private lose(error: ConnectionError): void {
    if (this.lost !== undefined) return;
    this.lost = error;
    this.client.connection.stream.destroy();
    this.onOwnerLost(error);
    this.onLost(error);
  }
}

/** Whether a statement may have failed because the schema changed after it was prepared or described. */
function isStaleStatement({ routine, code }: DatabaseError, { types }: PreparedStatement): boolean {
  if (routine === "RevalidateCachedQuery" || routine === "transformAssignedExpr") return true;
  // With the parameter types of an older schema, a statement can fail in many ways, all of class 42.
  return types.length > 0 && code?.startsWith("42") === true;
}

/** Whether a prepared statement belongs to another connection of the pooler, or is not known in this session. */
function isStatementLost(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === "42P05" || error.code === "26000");
}

function connectFailure(error: Error & { readonly code?: unknown }): Error {
  const insecure = tlsFailure(error);
  if (insecure !== undefined) return insecure;
  if (typeof error.code === "string") return error;
  if (error.message === "timeout expired") return connectTimeout(error);
  return connectionLost(error);
}

function uncork(connection: Connection, wire: Wire): void {
  connection.uncork(wire);
}

function same(name: string): string {
  return name;
}

function ignore(): void {}
