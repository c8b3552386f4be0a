import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import { fail, invalid } from "../errors/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import type { Keyring } from "../platform/crypto/index.ts";
import type { Database, Sql } from "../platform/db/index.ts";
import { type Claim, claim, complete, storedResponse, usedKeys } from "../platform/idempotency/index.ts";
import { jsonEncoder } from "../platform/protojson/index.ts";
import {
  type AfterCommit,
  type Answer,
  type Call,
  type Context,
  type GroupedHandler,
  type Handler,
  type Next,
  type Plane,
  PrepareAgain,
  type PreparedHandler,
  type QuotaReceipt,
  type ServiceHandlers,
} from "./call.ts";
import { type StoredResponseCodec, storedResponseCodec } from "./stored-response.ts";
import { whileAllowed } from "./stream.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  /** How long a call may take before its effect is undone. */
  readonly timeoutMs: number;
  readonly keyring: Keyring | undefined;
  /** Takes from a tenant's daily quota, or throws. */
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number, count: number) => Promise<QuotaReceipt>;
  /** The key of request digests, the same on all nodes. */
  readonly fingerprintSecret: string;
  /** Checks the access of a call that is under way once more; throws when it would be refused now. */
  readonly recheckAccess: Readonly<Record<Plane, (call: Call) => Promise<void>>>;
  /** The handlers by service name. */
  readonly handlers: Readonly<Record<string, ServiceHandlers>>;
}

type Executor = (call: Call) => Promise<Answer>;

/**
 * The end of the chain: finds the operation's handler and runs it.
 * A mutating operation runs in one transaction: its idempotency record, its effect, its events and its answer
 * are committed together or not at all.
 */
export function execution(operations: readonly Operation[], parts: Parts): Next {
  const executors = new Map<Operation, Executor>();
  for (const operation of operations) {
    const handler = parts.handlers[operation.service.typeName]?.[operation.method.localName];
    if (handler === undefined) throw new Error(`${operation.id} has no handler`);
    executors.set(operation, executorOf(operation, handler, parts));
  }
  return (call) => executors.get(call.operation)!(call);
}

function executorOf(operation: Operation, handler: Handler | GroupedHandler | PreparedHandler, parts: Parts): Executor {
  if (typeof handler === "function" && operation.streaming) {
    return async (call) => {
      const context = contextOf(call, parts);
      const stream = await handler(context, call.message);
      return whileAllowed(stream as AsyncIterable<Message>, () => context.recheckAccess());
    };
  }
  if (typeof handler === "function" && !operation.governance.mutating) {
    return async (call) => handler(contextOf(call, parts), call.message);
  }
  const codec = storedResponseCodec(operation, parts.keyring);
  if (typeof handler === "function") {
    return (call) => {
      const context = contextOf(call, parts);
      const claimed = claimOf(call, context.nowMs, parts.fingerprintSecret);
      const run = () => handler(context, call.message) as Promise<Message>;
      return executeInTransaction({ call, context, claimed, codec, parts }, run);
    };
  }
  return "prepare" in handler
    ? (call) => executePrepared(call, handler, codec, parts)
    : (call) => executeGrouped(call, handler, codec, parts);
}

/** A call of a mutating operation. */
interface MutatingCall {
  readonly call: Call;
  readonly context: CallContext;
  readonly claimed: Claim | undefined;
  readonly codec: StoredResponseCodec;
  readonly parts: Parts;
}

async function executeInTransaction(
  { call, context, claimed, codec, parts }: MutatingCall,
  run: () => Promise<Message>,
): Promise<Message> {
  const done = await parts.db.transaction(async (tx) => {
    if (claimed !== undefined && !(await claim(tx, claimed))) {
      return { replayed: codec.decode(await storedResponse(tx, claimed), claimed) };
    }
    context.sql = tx;
    const response = await run();
    if (claimed !== undefined) await complete(tx, { ...claimed, response: codec.encode(response, claimed) });
    // A caller who has given up, or waited too long, gets no effect: the answer it saw is then the truth.
    call.signal.throwIfAborted();
    if (performance.now() - call.startedAtMs > parts.timeoutMs) throw fail("TIMEOUT");
    return { response };
  }, call);
  if (done.replayed !== undefined) return replayed(call, done.replayed);
  const settled = context.committed();
  if (settled !== undefined) await settled;
  return done.response;
}

async function executePrepared(
  call: Call,
  handler: PreparedHandler,
  codec: StoredResponseCodec,
  parts: Parts,
): Promise<Message> {
  const context = contextOf(call, parts);
  const claimed = claimOf(call, context.nowMs, parts.fingerprintSecret);
  const { sql } = parts.db;
  // Nothing is prepared for a repeat.
  if (claimed !== undefined && (await usedKeys(sql, [claimed])).size > 0) {
    return replayed(call, codec.decode(await storedResponse(sql, claimed), claimed));
  }
  for (let from: unknown; ; ) {
    call.signal.throwIfAborted();
    context.sql = sql;
    const prepared = await handler.prepare(context, call.message, from);
    try {
      const run = () => handler.run(context, call.message, prepared);
      return await executeInTransaction({ call, context, claimed, codec, parts }, run);
    } catch (error) {
      if (!(error instanceof PrepareAgain)) throw error;
      from = error.from;
    }
  }
}

async function executeGrouped(
  call: Call,
  handler: GroupedHandler,
  codec: StoredResponseCodec,
  parts: Parts,
): Promise<Message> {
  const context = contextOf(call, parts);
  const claimed = claimOf(call, context.nowMs, parts.fingerprintSecret);
  const keyed = claimed && {
    claim: claimed,
    record: (response: Message) => ({ ...claimed, response: codec.encode(response, claimed) }),
  };
  const response = await handler.grouped(context, call.message, keyed);
  if (response !== "duplicate") {
    const settled = context.committed();
    if (settled !== undefined) await settled;
    return response;
  }
  const recorded = codec.decode(await storedResponse(parts.db.sql, claimed!), claimed!);
  return replayed(call, handler.replay === undefined ? recorded : await handler.replay(context, recorded));
}

function replayed(call: Call, response: Message): Message {
  call.responseHeaders["idempotency-replayed"] = "true";
  return response;
}

function contextOf(call: Call, parts: Parts): CallContext {
  return new CallContext(call, parts);
}

// A class, because an object literal with a getter would get a hidden class of its own at every call; and a function that
// is written down as the value of a property would be among the old at once, with all that it can see.
class CallContext implements Context {
  readonly operation: Operation;
  readonly plane: Context["plane"];
  readonly principal: Context["principal"];
  readonly tenantId: Context["tenantId"];
  readonly platform: boolean;
  readonly requestId: string;
  readonly nowMs: number;
  #sql: Sql | undefined;
  readonly #call: Call;
  readonly #parts: Parts;
  readonly afterCommit: Context["afterCommit"];
  readonly #actions: AfterCommit[];

  constructor(call: Call, parts: Parts) {
    this.operation = call.operation;
    this.plane = call.plane;
    this.principal = call.principal!;
    this.tenantId = call.tenantId!;
    this.platform = call.standing!.platform && call.principal!.roles.includes("admin");
    this.requestId = call.requestId;
    this.nowMs = parts.clock.now();
    this.#sql = undefined;
    this.#call = call;
    this.#parts = parts;
    const actions: AfterCommit[] = [];
    const afterCommit = (action: AfterCommit) => {
      actions.push(action);
    };
    this.#actions = actions;
    this.afterCommit = afterCommit;
  }

  // Made when it is first used: the hot calls read and write through batchers.
  get sql(): Sql {
    this.#sql ??= this.#parts.db.sqlFor(this.#call);
    return this.#sql;
  }

  set sql(sql: Sql) {
    this.#sql = sql;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  quotaOf(operation: string): number | undefined {
    return this.#call.standing?.quotas[operation];
  }

  takeQuota(operation: string, count: number): Promise<QuotaReceipt> | undefined {
    const limit = this.quotaOf(operation);
    return limit === undefined ? undefined : this.#parts.takeQuota(this.tenantId, operation, limit, count);
  }

  waited(ms: number): void {
    this.#call.waitedMs += ms;
  }

  recheckAccess(): Promise<void> {
    return this.#parts.recheckAccess[this.plane](this.#call);
  }

  /** Runs what waits for the commit; undefined when nothing of it takes time. */
  committed(): Promise<unknown> | undefined {
    return runAfterCommit(this.#actions);
  }
}

/** Runs actions that wait for a commit; undefined when none of them takes time. A failure never undoes the commit. */
export function runAfterCommit(actions: readonly AfterCommit[]): Promise<unknown> | undefined {
  const pending: Promise<unknown>[] = [];
  for (const action of actions) {
    const result = action();
    if (result instanceof Promise) pending.push(result);
  }
  return pending.length === 0 ? undefined : Promise.allSettled(pending);
}

const acceptableKey = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

function claimOf(call: Call, nowMs: number, secret: string): Claim | undefined {
  const key = call.header("idempotency-key");
  if (key === undefined) {
    if (call.standing?.settings["idempotency.required"] === true) {
      throw invalid("Idempotency-Key", "required", "must be sent: the tenant has set idempotency.required");
    }
    return undefined;
  }
  if (!acceptableKey.test(key)) {
    throw invalid("Idempotency-Key", "idempotency_key", "must have 1 to 255 printable characters");
  }
  return {
    tenantId: call.tenantId!,
    // A token's subject may be any text, also that of a key.
    principal: `${call.principal!.kind}:${call.principal!.subject}`,
    operation: call.operation.id,
    key,
    // Keyed, because a request may hold a secret that could otherwise be guessed from its digest.
    fingerprint: hash("sha256", secret + jsonEncoder(call.operation.method.input, "json")(call.message!), "buffer"),
    createdAt: new Date(nowMs),
  };
}
