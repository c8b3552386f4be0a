import type { Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import type { Principal, TenantId } from "../platform/access/index.ts";
import type { Sql } from "../platform/db/index.ts";
import type { Claim, IdempotencyRecord } from "../platform/idempotency/index.ts";
import type { TenantStanding } from "./tenant-standing.ts";

/** Which listener a call came in by. */
export type Plane = "external" | "internal";

/** Headers by lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Reads and parses a body; `charge` is told its size, after decompression, before it is parsed. */
export type Decode = (charge?: ChargeBytes) => Message | Promise<Message>;

/** Takes what a body of a size costs, or throws. */
export type ChargeBytes = (bytes: number) => Promise<void> | undefined;

/** A call on its way through the chain. Protocol adapters make it; steps fill it in; handlers get it as their context. */
export interface Call {
  readonly operation: Operation;
  readonly plane: Plane;
  readonly protocol: "rest" | "connect" | "grpc" | "grpc_web" | "mcp";
  readonly header: HeaderReader;
  /** Subject of a verified client certificate, on a mutual-TLS listener. */
  readonly peerCertificate: { readonly commonName: string; readonly organization: string } | undefined;
  readonly remoteAddress: string;
  /** Ends when the caller goes away or its deadline passes. */
  readonly signal: AbortSignal;
  /** Reads and parses the body. Called once, at the bar between the eighth and the ninth step. */
  readonly decode: Decode;
  /** Headers that the answer will carry, errors included. */
  readonly responseHeaders: Record<string, string>;
  readonly startedAtMs: number;
  /** How much of its time the call waited, as it was asked to. */
  waitedMs: number;
  requestId: string;
  /** Set by telemetry; its id is made when it is first read. */
  span: { readonly traceId: string } | undefined;
  apiVersion: string;
  principal: Principal | undefined;
  tenantId: TenantId | undefined;
  standing: TenantStanding | undefined;
  message: Message | undefined;
}

/** What a unary step passes on: the answer, or a stream of answers. */
export type Answer = Message | AsyncIterable<Message>;

/** The rest of the chain. */
export type Next = (call: Call) => Promise<Answer>;

/** One step of the chain. */
export type Interceptor = (call: Call, next: Next) => Promise<Answer>;

/** What is left to do once a transaction is committed. A promise that it returns is awaited before the call is answered. */
export type AfterCommit = () => unknown;

/** What was taken from a daily quota. */
export interface QuotaReceipt {
  /** Gives so many back to the day that they were taken from. */
  giveBack(count: number): Promise<void>;
}

/** What a handler knows besides its message. */
export interface Context {
  readonly operation: Operation;
  readonly plane: Plane;
  readonly principal: Principal;
  readonly tenantId: TenantId;
  /** Whether the caller may see and make other tenants. */
  readonly platform: boolean;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** The transaction of a mutating operation; the connection pool for the others. */
  readonly sql: Sql;
  /** The tenant's daily quota of an operation, for handlers that take from it with their effect; undefined for no limit. */
  quotaOf(operation: string): number | undefined;
  /**
   * Takes so many from the tenant's daily quota of an operation, or throws QUOTA_EXCEEDED and takes none. A count of 0 only
   * asks whether the quota is known to be used up. Undefined for no limit.
   */
  takeQuota(operation: string, count: number): Promise<QuotaReceipt> | undefined;
  /**
   * Checks the caller's access once more; throws when the call would be refused now. A handler that waits calls it
   * after every wait, before it hands anything out.
   */
  recheckAccess(): Promise<void>;
  /** Says that the call waited for something to happen, as it was asked to: such time makes no call slow. */
  waited(ms: number): void;
  /** Runs after the transaction is committed, never when it is rolled back. The call is answered when its promise settles. */
  afterCommit(action: AfterCommit): void;
}

/**
 * Carries out an operation. Made from messages to messages; rules and SQL live further in.
 * What can be refused at once is refused before a stream is answered with, while the answer can still be an error.
 */
// biome-ignore lint/suspicious/noExplicitAny: each handler takes its own request; the table that holds them is untyped.
export type Handler = (context: Context, request: any) => Promise<Answer>;

/** A call's idempotency key, and how its answer is recorded under it. */
export interface KeyedCall {
  readonly claim: Claim;
  record(response: Message): IdempotencyRecord;
}

/**
 * Carries out a hot mutating operation: it gets no transaction but commits through a batcher, together with many
 * others', and keeps the record of its answer in the same commit. "duplicate" when the key was recorded before, and
 * nothing was done.
 */
export type GroupedHandler = {
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly grouped: (context: Context, request: any, keyed: KeyedCall | undefined) => Promise<Message | "duplicate">;
  /** Makes the answer to a repeat from the recorded one, where that was recorded before the effect was complete. */
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly replay?: (context: Context, recorded: any) => Promise<Message>;
};

/**
 * Carries out a mutating operation, part of which takes too long to hold a connection meanwhile. `prepare` runs before the
 * transaction, and `run` in it. `run` verifies what may have changed since, and throws PrepareAgain to have its transaction
 * rolled back and both run again.
 */
export type PreparedHandler = {
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly prepare: (context: Context, request: any, from: any) => Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as with Handler.
  readonly run: (context: Context, request: any, prepared: any) => Promise<Message>;
};

/** Has an operation prepared again; `from` is what `prepare` is told, undefined at first. */
export class PrepareAgain extends Error {
  readonly from: unknown;

  constructor(from?: unknown) {
    super("What was prepared is not enough any more.");
    this.from = from;
  }
}

/** The handlers of a service, by method name. */
export type ServiceHandlers = Readonly<Record<string, Handler | GroupedHandler | PreparedHandler>>;
