import type { Violation } from "../../../../errors/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import type { Action } from "./action.ts";
import type { AccountValues, Provider } from "./provider.ts";
import type { RequestOptions } from "./request/render-request.ts";
import type { RequestValues } from "./request/values.ts";
import type { HttpRequest, RenderFault, RequestSpec } from "./request-spec.ts";
import type { ActionAnswer, PageState } from "./response-spec.ts";

/** Renders a request with its authentication: headers, query or signature. */
export type RenderRequest = (
  provider: Provider,
  request: RequestSpec,
  values: RequestValues,
  options?: RequestOptions,
) => HttpRequest | RenderFault;

export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Reads the answer of an action. Pass the page state of the previous answer on to collect all pages. */
export type ReadResponse = (
  provider: Provider,
  action: Action,
  answer: HttpAnswer,
  options: { readonly nowMs: number; readonly page?: PageState | undefined },
) => ActionAnswer;

/** Checks the input of an action against its schema; empty if it is valid. */
export type CheckInput = (action: Pick<Action, "inputSchema">, input: Json) => readonly Violation[];

/** The secret values of a connection, for redaction. */
export type SecretsOf = (provider: Provider, account: AccountValues) => readonly string[];

/** Replaces secrets in texts and JSON values, in all encodings in which requests and answers can contain them. */
export interface Redactor {
  text(text: string): string;
  value<T extends Json>(value: T): T;
}
