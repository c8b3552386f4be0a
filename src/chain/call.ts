import type { Message } from "@bufbuild/protobuf";
import type { Sql } from "../platform/db/index.ts";
import type { Operation } from "../definitions/index.ts";

/** The tenant that a record belongs to. */
export type TenantId = string & { readonly __id: "tenant" };

/** Who calls. */
export interface Principal {
  readonly tenantId: TenantId;
  /** The token's subject, or `key:<id>`, or `service:<name>`. */
  readonly subject: string;
  readonly kind: "user" | "api_key" | "service" | "anonymous";
  readonly roles: readonly string[];
  /** Everything that roles and own scopes grant; patterns such as `pool:*`. */
  readonly scopes: ReadonlySet<string>;
  readonly environmentMode: "any" | "production_only" | "non_production_only";
  /** Whether the caller's tenant is the platform tenant. */
  readonly platform: boolean;
}

/** Which listener a call came in by. */
export type Plane = "external" | "internal";

/** Headers by lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

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
  readonly decode: () => Message | Promise<Message>;
  /** Headers that the answer will carry, errors included. */
  readonly responseHeaders: Record<string, string>;
  readonly startedAtMs: number;

  requestId: string;
  apiVersion: string;
  principal: Principal | undefined;
  tenantId: TenantId | undefined;
  message: Message | undefined;
}

/** What a unary step passes on: the answer, or a stream of answers. */
export type Answer = Message | AsyncIterable<Message>;

/** The rest of the chain. */
export type Next = (call: Call) => Promise<Answer>;

/** One step of the chain. */
export type Interceptor = (call: Call, next: Next) => Promise<Answer>;

/** What a handler knows besides its message. */
export interface Context {
  readonly operation: Operation;
  readonly plane: Plane;
  readonly principal: Principal;
  readonly tenantId: TenantId;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** The transaction of a mutating operation; the connection pool for the others. */
  readonly sql: Sql;
  /** Runs after the transaction is committed, never when it is rolled back. */
  afterCommit(action: () => void): void;
}
