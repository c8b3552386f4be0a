import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import { fail, invalid } from "../errors/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import type { Cursors } from "../platform/cursor/index.ts";
import { type Database, type ReadReplica, runAfterCommit, type Sql } from "../platform/db/index.ts";
import { isRecorded, type KeyedCall, readStoredResponse, withIdempotency } from "../platform/idempotency/index.ts";
import { type KeyOf, type ListPage, type PageRequest, type ReadRows, readPage } from "../platform/paging/index.ts";
import { createJsonEncoder } from "../platform/protojson/index.ts";
import { createMessageConverter } from "../platform/records/index.ts";
import type { StorageWatch } from "../platform/storage/index.ts";
import {
  type AfterCommit,
  type Call,
  type CallResponse,
  type Context,
  type Handler,
  type Next,
  type OwnCommitHandler,
  type Plane,
  PrepareAgain,
  type PreparedHandler,
  type QuotaReceipt,
  type ServiceHandlers,
} from "./call.ts";
import { createReturnedRecordCheck, type ReturnedRecordCheck } from "./returned-record.ts";
import { createStoredResponseCodec, type StoredResponseCodec } from "./stored-response.ts";
import { guardStream } from "./stream.ts";

interface Dependencies {
  readonly db: Database;
  /** Where reads that grow with the data run; undefined if they run on `db`. */
  readonly replica?: ReadReplica | undefined;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** The longest time that a call may take. A later commit is rolled back. */
  readonly timeoutMs: number;
  /** Charges a tenant's daily quota, or throws. */
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number, count: number) => Promise<QuotaReceipt>;
  /** The key of request digests, shared by all nodes. */
  readonly fingerprintSecret: string;
  /** Checks the access of a running call again and throws if it would be refused now. */
  readonly recheckAccess: Readonly<Record<Plane, (call: Call) => Promise<void>>>;
  /** Knows whether a call may add to what is stored; undefined if every call may. */
  readonly storage?: Pick<StorageWatch, "refusalOf"> | undefined;
  /** Handlers by full service name. */
  readonly handlers: Readonly<Record<string, ServiceHandlers>>;
}

type Executor = (call: Call) => Promise<CallResponse>;

/**
 * Creates the end of the chain, which runs the operation's handler.
 * A mutating operation runs in one transaction: its idempotency record, effect, events and response are committed
 * together or not at all.
 */
export function createExecutor(operations: readonly Operation[], dependencies: Dependencies): Next {
  const executors = new Map<Operation, Executor>();
  for (const operation of operations) {
    const handler = dependencies.handlers[operation.service.typeName]?.[operation.method.localName];
    if (handler === undefined) throw new Error(`${operation.id} has no handler`);
    const check = createReturnedRecordCheck(operation, operations, dependencies.handlers);
    executors.set(operation, executorOf(operation, handler, check, dependencies));
  }
  return (call) => {
    const { governance, rawBodyBytesMax } = call.operation;
    if (governance.mutating && !governance.worksWhenFull) {
      const isObject = rawBodyBytesMax !== undefined;
      const refusal = dependencies.storage?.refusalOf({ tenantId: call.tenantId, isObject });
      if (refusal !== undefined) throw refusal;
    }
    return executors.get(call.operation)!(call);
  };
}

function executorOf(
  operation: Operation,
  handler: Handler | OwnCommitHandler | PreparedHandler,
  check: ReturnedRecordCheck | undefined,
  dependencies: Dependencies,
): Executor {
  if (typeof handler === "function" && operation.streaming) {
    return async (call) => {
      const context = new CallContext(call, dependencies);
      const stream = await handler(context, call.message);
      return guardStream(stream as AsyncIterable<Message>, () => context.recheckAccess());
    };
  }
  const toMessage = createMessageConverter(operation.method.output);
  if (typeof handler === "function" && !operation.governance.mutating) {
    const read = async (call: Call, sql?: Sql) => {
      const context = new CallContext(call, dependencies);
      if (sql !== undefined) context.sql = sql;
      return toMessage(await handler(context, call.message));
    };
    const { replica } = dependencies;
    if (replica === undefined || !isReplicable(operation)) return (call) => read(call);
    return (call) => replica.read((sql) => read(call, sql));
  }
  const codec = createStoredResponseCodec(operation);
  if (typeof handler === "function") {
    return (call) => {
      const context = new CallContext(call, dependencies);
      const keyed = keyedCallOf(call, context.nowMs, codec, dependencies.fingerprintSecret);
      const run = checked(check, call, context, async () => toMessage(await handler(context, call.message)));
      return executeInTransaction({ call, context, keyed, codec, dependencies }, run);
    };
  }
  if ("prepare" in handler) return (call) => executePrepared(call, handler, check, codec, dependencies);
  // A handler with its own commit has no transaction in which the record could be compared.
  if (check !== undefined) throw new Error(`${operation.id} is an update and must run in a transaction`);
  return (call) => executeGrouped(call, handler, codec, dependencies);
}

/**
 * Whether a replica may answer a read: one that grows with the data, which is a list or costs more than one token. Reads of one record
 * are cheaper than the check of the replica. One that waits for a change would hold its connection meanwhile.
 */
function isReplicable({ paging, tokenCost, method }: Operation): boolean {
  return (paging !== undefined || tokenCost > 1) && method.input.field.waitS === undefined;
}

/** The work of a call, after a comparison with the record if the caller sends back parts of it. */
function checked(
  check: ReturnedRecordCheck | undefined,
  call: Call,
  context: Context,
  run: () => Promise<Message>,
): () => Promise<Message> {
  return check === undefined || call.returned === undefined ? run : () => check(call, context, run);
}

/** A call of a mutating operation. */
interface MutatingCall {
  readonly call: Call;
  readonly context: CallContext;
  readonly keyed: KeyedCall | undefined;
  readonly codec: StoredResponseCodec;
  readonly dependencies: Dependencies;
}

async function executeInTransaction(
  { call, context, keyed, codec, dependencies }: MutatingCall,
  run: () => Promise<Message>,
): Promise<Message> {
  const done = await dependencies.db.transaction(async (tx) => {
    const done = await withIdempotency(tx, keyed, async () => {
      context.sql = tx;
      return { response: await run() };
    });
    if (done === "duplicate") return { replayed: codec.decode(await readStoredResponse(tx, keyed!.claim)) };
    // A call that was cancelled or timed out is rolled back, so that the error the caller saw is true.
    call.signal.throwIfAborted();
    if (performance.now() - call.startedAtMs - call.waitedMs > dependencies.timeoutMs) throw fail("TIMEOUT");
    return done;
  }, call);
  if ("replayed" in done) return replayed(call, done.replayed);
  const settled = context.committed();
  if (settled !== undefined) await settled;
  return done.response;
}

async function executePrepared(
  call: Call,
  handler: PreparedHandler,
  check: ReturnedRecordCheck | undefined,
  codec: StoredResponseCodec,
  dependencies: Dependencies,
): Promise<Message> {
  if (call.invalid !== undefined) throw call.invalid;
  const toMessage = createMessageConverter(call.operation.method.output);
  const context = new CallContext(call, dependencies);
  const keyed = keyedCallOf(call, context.nowMs, codec, dependencies.fingerprintSecret);
  // Leaves the queue for a connection when the caller does.
  const { sql } = context;
  // Nothing is prepared for a repeat.
  if (await isRecorded(sql, keyed)) return replayed(call, codec.decode(await readStoredResponse(sql, keyed!.claim)));
  for (let from: unknown; ; ) {
    call.signal.throwIfAborted();
    context.sql = sql;
    const prepared = await handler.prepare(context, call.message, from);
    try {
      const run = checked(check, call, context, async () =>
        toMessage(await handler.run(context, call.message, prepared)),
      );
      return await executeInTransaction({ call, context, keyed, codec, dependencies }, run);
    } catch (error) {
      if (!(error instanceof PrepareAgain)) throw error;
      from = error.from;
      context.rolledBack();
    }
  }
}

async function executeGrouped(
  call: Call,
  handler: OwnCommitHandler,
  codec: StoredResponseCodec,
  dependencies: Dependencies,
): Promise<Message> {
  const context = new CallContext(call, dependencies);
  const keyed = keyedCallOf(call, context.nowMs, codec, dependencies.fingerprintSecret);
  const response = await handler.ownCommit(context, call.message, keyed);
  if (response !== "duplicate") {
    const settled = context.committed();
    if (settled !== undefined) await settled;
    return response;
  }
  const recorded = codec.decode(await readStoredResponse(dependencies.db.sql, keyed!.claim));
  return replayed(call, handler.replay === undefined ? recorded : await handler.replay(context, recorded));
}

function replayed(call: Call, response: Message): Message {
  call.responseHeaders["idempotency-replayed"] = "true";
  return response;
}

// A class, because an object literal with a getter gets a new hidden class on every call. A function written as a property
// value is promoted to the old generation immediately, with everything that it captures.
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
  readonly #dependencies: Dependencies;
  readonly afterCommit: Context["afterCommit"];
  readonly #actions: AfterCommit[];

  constructor(call: Call, dependencies: Dependencies) {
    this.operation = call.operation;
    this.plane = call.plane;
    this.principal = call.principal!;
    this.tenantId = call.tenantId!;
    // An operation without authentication has neither.
    this.platform = call.tenantState?.platform === true && call.principal!.roles.includes("admin");
    this.requestId = call.requestId;
    this.nowMs = dependencies.clock.now();
    this.#sql = undefined;
    this.#call = call;
    this.#dependencies = dependencies;
    const actions: AfterCommit[] = [];
    const afterCommit = (action: AfterCommit) => {
      actions.push(action);
    };
    this.#actions = actions;
    this.afterCommit = afterCommit;
  }

  // Made when it is first used: the hot calls read and write through batchers.
  get sql(): Sql {
    this.#sql ??= this.#dependencies.db.sqlFor(this.#call);
    return this.#sql;
  }

  set sql(sql: Sql) {
    this.#sql = sql;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get idempotencyKey(): string | undefined {
    return this.#call.header("idempotency-key");
  }

  get body(): AsyncIterable<Uint8Array> | undefined {
    return this.#call.body;
  }

  async page<Field extends string, Row>(
    field: Field,
    request: PageRequest,
    filter: readonly unknown[],
    read: ReadRows<Row>,
    keyOf: KeyOf<Row> = (row) => (row as { readonly id: string }).id,
  ): Promise<ListPage<Field, Row>> {
    const scope = { tenantId: this.tenantId, operation: this.operation.id, filter };
    const { items, ...page } = await readPage(this.#dependencies.cursors, request, scope, keyOf, read);
    return { ...page, [field]: items } as unknown as ListPage<Field, Row>;
  }

  settingOf(key: string): unknown {
    return this.#call.tenantState?.settings[key];
  }

  quotaOf(operation: string): number | undefined {
    return this.#call.tenantState?.quotas[operation];
  }

  takeQuota(operation: string, count: number): Promise<QuotaReceipt> | undefined {
    const limit = this.quotaOf(operation);
    return limit === undefined ? undefined : this.#dependencies.takeQuota(this.tenantId, operation, limit, count);
  }

  waited(ms: number): void {
    this.#call.waitedMs += ms;
  }

  recheckAccess(): Promise<void> {
    return this.#dependencies.recheckAccess[this.plane](this.#call);
  }

  /** Discards the after-commit actions of an attempt. */
  rolledBack(): void {
    this.#actions.length = 0;
  }

  /** Runs the after-commit actions; undefined if all of them are synchronous. */
  committed(): Promise<unknown> | undefined {
    return runAfterCommit(this.#actions);
  }
}

const acceptableKey = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

function keyedCallOf(call: Call, nowMs: number, codec: StoredResponseCodec, secret: string): KeyedCall | undefined {
  const key = call.header("idempotency-key");
  if (key === undefined) {
    if (call.tenantState?.settings["idempotency.required"] === true) {
      throw invalid(
        "Idempotency-Key",
        "required",
        "is required, because the tenant has set idempotency.required. Send a unique value per request (for example: a UUID)",
      );
    }
    return undefined;
  }
  if (!acceptableKey.test(key)) {
    throw invalid(
      "Idempotency-Key",
      "idempotency_key",
      "must be 1 to 255 printable ASCII characters without leading or trailing spaces (for example: order-4711)",
    );
  }
  const claim = {
    tenantId: call.tenantId!,
    // Prefixed with the kind, because a token's subject may equal the id of an API key.
    principal: `${call.principal!.kind}:${call.principal!.subject}`,
    operation: call.operation.id,
    key,
    // Keyed, because a secret in the request could otherwise be guessed from its digest.
    fingerprint: hash(
      "sha256",
      secret + createJsonEncoder(call.operation.method.input, "json")(withoutRawBody(call)),
      "buffer",
    ),
    createdAt: new Date(nowMs),
  };
  return { claim, record: (response) => ({ ...claim, response: codec.encode(response) }) };
}

/** The request without raw bytes, which the handler verifies: REST has not read them yet. */
function withoutRawBody({ operation: { rawBodyBytesMax, bindings, method }, message }: Call): Message {
  if (rawBodyBytesMax === undefined) return message!;
  const body = method.input.fields.find(({ name }) => name === bindings[0]!.body)!;
  return { ...message!, [body.localName]: undefined };
}
