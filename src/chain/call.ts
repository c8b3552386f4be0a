import type { Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import type { Failure } from "../errors/index.ts";
import type { Principal, TenantId } from "../platform/access/index.ts";
import type { Sql } from "../platform/db/index.ts";
import type { KeyedCall } from "../platform/idempotency/index.ts";
import type { KeyOf, ListPage, PageRequest, ReadRows } from "../platform/paging/index.ts";
import type { ReturnedFields } from "./returned-fields.ts";
import type { TenantState } from "./tenant-state.ts";

/** The listener that accepted a call: the public API or the service-to-service API. */
export type Plane = "external" | "internal";

/** Reads a header by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Reads and parses a body. `charge` gets the decompressed size before the body is parsed. */
export type Decode = (charge?: ChargeBytes) => Message | Promise<Message>;

/** Charges the rate limit for a body of this size, or throws. */
export type ChargeBytes = (bytes: number) => Promise<void> | undefined;

/** A call in the chain. Protocol adapters create it, steps add to it, and handlers see it as their context. */
export interface Call {
  readonly operation: Operation;
  readonly plane: Plane;
  readonly protocol: "rest" | "connect" | "grpc" | "grpc_web" | "mcp" | "scim";
  readonly httpMethod: string;
  readonly header: HeaderReader;
  /** Subject of a verified client certificate, on a mutual-TLS listener. */
  readonly peerCertificate: { readonly commonName: string; readonly organization: string } | undefined;
  readonly remoteAddress: string;
  /** Aborts when the caller disconnects or its deadline passes. */
  readonly signal: AbortSignal;
  /** Reads and parses the body. Called once, between the eighth and the ninth step. */
  readonly decode: Decode;
  /** The raw body of a REST call, for an operation that reads it while it arrives. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Headers of the response, sent with errors too. */
  readonly responseHeaders: Record<string, string>;
  readonly startedAtMs: number;
  /** Time that the call spent in a wait the caller requested, such as a long poll. */
  waitedMs: number;
  requestId: string;
  /** Set by telemetry. The ids are generated on first read. */
  span: { readonly traceId: string; readonly spanId: string } | undefined;
  apiVersion: string;
  principal: Principal | undefined;
  tenantId: TenantId | undefined;
  tenantState: TenantState | undefined;
  message: Message | undefined;
  /** Read-only fields of the record that a REST update sends back. */
  returned?: ReturnedFields | undefined;
  /** Why the message is not valid, as long as it is not known which fields of a returned record the update changes. */
  invalid?: Failure | undefined;
}

/** Result of a call: one message, or a stream of messages. */
export type CallResponse = Message | AsyncIterable<Message>;

/** The rest of the chain. */
export type Next = (call: Call) => Promise<CallResponse>;

/** One step of the chain. */
export type Interceptor = (call: Call, next: Next) => Promise<CallResponse>;

/** Work to do after a commit. A returned promise is awaited before the response is sent. */
export type AfterCommit = () => unknown;

/** Units charged to a daily quota. */
export interface QuotaReceipt {
  /** Refunds units to the day that they were charged to. */
  refund(count: number): Promise<void>;
}

/** A handler's input besides its request message. */
export interface Context {
  readonly operation: Operation;
  readonly plane: Plane;
  readonly principal: Principal;
  readonly tenantId: TenantId;
  /** Whether the caller may read and create other tenants. */
  readonly platform: boolean;
  readonly requestId: string;
  /** The Idempotency-Key header of a mutating call. */
  readonly idempotencyKey: string | undefined;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /**
   * The raw body of a REST call, for an operation that reads it while it arrives; it can be read once. Undefined in the
   * other protocols, whose message contains it.
   */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** The transaction of a mutating operation, or the connection pool for other operations. */
  readonly sql: Sql;
  /**
   * Reads one page of a list into a field of the response. A cursor is valid only with the same filter. `keyOf` returns the
   * key by which the rows are ordered, which is their id by default.
   */
  page<Field extends string, Row extends { readonly id: string }>(
    field: Field,
    request: PageRequest,
    filter: readonly unknown[],
    read: ReadRows<Row>,
  ): Promise<ListPage<Field, Row>>;
  page<Field extends string, Row>(
    field: Field,
    request: PageRequest,
    filter: readonly unknown[],
    read: ReadRows<Row>,
    keyOf: KeyOf<Row>,
  ): Promise<ListPage<Field, Row>>;
  /** The tenant's own value of a setting; undefined if it has none, so that the instance's value applies. */
  settingOf(key: string): unknown;
  /** The tenant's daily quota for an operation, for handlers that charge it in their own transaction; undefined if unlimited. */
  quotaOf(operation: string): number | undefined;
  /**
   * Charges `count` to the tenant's daily quota for an operation, or throws QUOTA_EXCEEDED and charges nothing. A count of
   * 0 only checks whether the quota is known to be used up. Undefined if unlimited.
   */
  takeQuota(operation: string, count: number): Promise<QuotaReceipt> | undefined;
  /**
   * Checks the caller's access again and throws if the call would be refused now. A handler that waits calls it after
   * every wait, before it returns data.
   */
  recheckAccess(): Promise<void>;
  /** Records time spent in a wait that the caller requested. It does not count towards slow-request logging. */
  waited(ms: number): void;
  /** Runs an action after the commit, never after a rollback. The response is sent when its promise settles. */
  afterCommit(action: AfterCommit): void;
}

/**
 * Runs an operation: a request message in, the response out, as a plain record or as a message. Rules and SQL belong in the
 * module's services.
 * A streaming handler rejects invalid requests before it returns the stream, because the response can no longer become
 * an error afterwards.
 */
// biome-ignore lint/suspicious/noExplicitAny: each handler takes its own request type; the handler table is untyped.
export type Handler = (context: Context, request: any) => Promise<object>;

/**
 * Runs a frequent mutating operation. It gets no transaction; a batcher commits it together with other calls and stores
 * the response record in the same commit. It returns "duplicate" without any effect if the idempotency key is already
 * recorded.
 */
export type OwnCommitHandler = {
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly ownCommit: (context: Context, request: any, keyed: KeyedCall | undefined) => Promise<Message | "duplicate">;
  /** Builds the response to a replay from the recorded one, if that was recorded before the effect was complete. */
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly replay?: (context: Context, recorded: any) => Promise<Message>;
};

/**
 * Carries out a mutating operation, part of which takes too long to hold a connection meanwhile. `prepare` runs before the
 * transaction, and `run` in it. `run` verifies what may have changed since, and throws PrepareAgain to have its transaction
 * rolled back and both run again.
 */
export type PreparedHandler<Response = object> = {
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly prepare: (context: Context, request: any, from: any) => Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly run: (context: Context, request: any, prepared: any) => Promise<Response>;
};

/** Makes an operation prepare again; `from` is passed to `prepare`, undefined at first. */
export class PrepareAgain extends Error {
  readonly from: unknown;

  constructor(from?: unknown) {
    super("What was prepared is not enough any more.");
    this.from = from;
  }
}

/** The handlers of a service, by method name. */
export type ServiceHandlers = Readonly<Record<string, Handler | OwnCommitHandler | PreparedHandler>>;
