import type { JsonObject } from "../../../../platform/document/index.ts";
import type { RequestSpec } from "./request-spec.ts";
import type { AnswerClass, ErrorRule, OutputSpec, PaginationSpec } from "./response-spec.ts";

export const effects = ["read", "search", "create", "update", "delete", "send"] as const;
export type Effect = (typeof effects)[number];

/** Whether an action can be executed. Only `executable` actions are callable. */
export type RuntimeStatus = "executable" | "catalog_only" | "deprecated" | "unconfigured" | "disabled";

/** Where the idempotency key goes. */
export type KeyPlace =
  | { readonly in: "header"; readonly name: string }
  | { readonly in: "query"; readonly name: string }
  /** A pointer into the JSON or form body. */
  | { readonly in: "body"; readonly pointer: string };

/** Effect of an action on the provider's data. */
export interface Mutation {
  readonly effect: Effect;
  /** Whether data is lost. */
  readonly destructive: boolean;
  /** natural: repeating it has no further effect. key: the provider deduplicates by a key. none: it must not be repeated. */
  readonly idempotency: "natural" | "key" | "none";
  readonly keyIn: KeyPlace | undefined;
}

/** An operation of a provider. */
export interface Action {
  /** The global key, for example `github.issue.create`. */
  readonly key: string;
  /** The key within the provider, for example `issue.create`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly permissions: readonly string[];
  /** Global keys. */
  readonly related: readonly string[];
  readonly mutation: Mutation;
  readonly retry: { readonly maxAttempts: number; readonly on: readonly AnswerClass[] };
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  readonly runtime: {
    readonly status: Extract<RuntimeStatus, "executable" | "catalog_only" | "deprecated">;
    readonly reason: string;
    /** The global key of the action to use instead of a deprecated one. */
    readonly replacedBy: string | undefined;
  };
  /** JSON Schemas without references. */
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | undefined;
  /** Undefined for actions that are only described. */
  readonly request: RequestSpec | undefined;
  /** The form of the body; any: JSON if it is JSON, otherwise text. */
  readonly response: "json" | "text" | "binary" | "none" | "any";
  /** The rules of the action, then those of the provider. */
  readonly errors: readonly ErrorRule[];
  /** Undefined: the whole body. */
  readonly output: OutputSpec | undefined;
  readonly paginate: PaginationSpec | undefined;
}
