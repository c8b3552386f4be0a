import { DatabaseError } from "pg";
import { runAfterCommit } from "./after-commit.ts";
import type { Connection } from "./connection.ts";
import { ConnectionError } from "./connection-error.ts";
import { createSql, type Sql } from "./sql.ts";
import { type ResultRows, type RowLimit, type Runner, Shape } from "./statement/statement.ts";

const commit = new Shape("commit", []);
const rollback = new Shape("rollback", []);
// One name is enough: a nested savepoint of the same name shadows the outer one until it is released.
const savepoint = new Shape("savepoint part", []);
const release = new Shape("release savepoint part", []);
const undo = new Shape("rollback to savepoint part", []);

/** Runs work in a transaction on a dedicated connection; fails as soon as the connection is lost. `onEnd` releases it. */
export async function runTransaction<T>(
  connection: Connection,
  work: (tx: Sql) => Promise<T>,
  onEnd: () => void = () => {},
): Promise<T> {
  const transaction = new Transaction(connection);
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  connection.onOwnerLost = lost.reject;
  let result: T;
  try {
    await connection.begin();
    result = await Promise.race([work(createSql(transaction)), lost.promise]);
    transaction.check();
    transaction.isOver = true;
    // After a failed statement that was not awaited, COMMIT rolls back without an error.
    const command = await connection.end(commit);
    if (command === "ROLLBACK") throw transaction.reasonFor(rolledBack());
  } catch (error) {
    transaction.isOver = true;
    if (connection.lost === undefined) await connection.end(rollback).catch(() => {});
    throw transaction.reasonFor(error);
  } finally {
    connection.onOwnerLost = () => {};
    onEnd();
  }
  // The actions may need a connection themselves.
  await runAfterCommit(transaction.afterCommit);
  return result;
}

/** Runs the statements of one transaction. */
class Transaction implements Runner {
  isOver = false;
  readonly afterCommit: (() => unknown)[] = [];
  private readonly connection: Connection;
  private readonly parent: Transaction | undefined;
  /** Whether a savepoint is open: a statement outside of it would be rolled back with it. */
  private hasPart = false;
  private failure: unknown = undefined;

  constructor(connection: Connection, parent?: Transaction) {
    this.connection = connection;
    this.parent = parent;
  }

  run(shape: Shape, parameters: unknown[], limit?: RowLimit): Promise<ResultRows<unknown>> {
    return this.refusal() ?? this.watch(this.connection.run(shape, parameters, limit));
  }

  runText(text: string): Promise<ResultRows<unknown>> {
    return this.refusal() ?? this.watch(this.connection.runText(text));
  }

  /** Runs work in a savepoint: when it throws, only its changes and locks are rolled back. */
  async savepoint<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
    const refusal = this.refusal();
    if (refusal !== undefined) return refusal;
    const opened = this.watch(this.connection.run(savepoint, []));
    // Set before the first await, so that no second savepoint can be opened concurrently.
    this.hasPart = true;
    const part = new Transaction(this.connection, this);
    try {
      await opened;
      const result = await work(createSql(part));
      part.check();
      part.end();
      await this.run(release, []);
      this.afterCommit.push(...part.afterCommit);
      return result;
    } catch (error) {
      part.end();
      await this.run(undo, []);
      await this.run(release, []);
      throw part.reasonFor(error);
    }
  }

  /** Ends a savepoint; its transaction continues. */
  private end(): void {
    this.isOver = true;
    this.parent!.hasPart = false;
  }

  private isEnded(): boolean {
    return this.isOver || this.parent?.isEnded() === true;
  }

  /** The reason why no statement can run now. */
  private refusal(): Promise<never> | undefined {
    if (this.isEnded()) return Promise.reject(this.connection.lost ?? transactionOver());
    return this.hasPart
      ? Promise.reject(new Error("A savepoint of this transaction is open: use the sql of the savepoint."))
      : undefined;
  }

  /** A transaction with a failed statement is never committed, even when the error was caught. */
  check(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  /** The first error; a later one may only report that the transaction has already failed. */
  reasonFor(error: unknown): unknown {
    const isEcho = error instanceof DatabaseError ? error.code === "25P02" : error instanceof RolledBackError;
    return isEcho ? (this.failure ?? error) : error;
  }

  /** A statement that nobody waits for may also be refused, because a savepoint is open. */
  fail(error: unknown): void {
    this.failure ??= error;
  }

  private watch(running: Promise<ResultRows<unknown>>): Promise<ResultRows<unknown>> {
    running.catch((error) => this.fail(error));
    return running;
  }
}

class RolledBackError extends Error {}

function rolledBack(): RolledBackError {
  return new RolledBackError("The transaction was rolled back because one of its statements failed.");
}

function transactionOver(): Error {
  return new ConnectionError("CONNECTION_CLOSED", "The transaction has ended: run no statement after its end.");
}
