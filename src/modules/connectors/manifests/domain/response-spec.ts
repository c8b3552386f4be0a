import type { CelExpression } from "../../../../platform/cel/index.ts";
import type { Json } from "../../../../platform/document/index.ts";

/** Classes of provider answers. */
export const answerClasses = [
  "ok",
  "rate_limited",
  "auth_expired",
  "permission_denied",
  "not_found",
  "conflict",
  "invalid_input",
  "unavailable",
  "failed",
  "malformed",
] as const;
export type AnswerClass = (typeof answerClasses)[number];

/** When a limited call may be repeated. */
export interface RateLimitHint {
  readonly from: { readonly header: string } | { readonly body: string };
  /** retry_after: seconds or an HTTP date. duration: a text such as `6m0s` or `20ms`. */
  readonly unit: "retry_after" | "s" | "ms" | "epoch_s" | "epoch_ms" | "rfc3339" | "duration";
}

/** Classifies answers; the first rule that matches wins. */
export interface ErrorRule {
  /** The statuses it applies to; undefined for all. */
  readonly status: ReadonlySet<number> | undefined;
  readonly when: CelExpression | undefined;
  /** Undefined: the default class of the status. */
  readonly as: AnswerClass | undefined;
  readonly until: RateLimitHint | undefined;
  /** Pointers to the provider's error code and message in the body. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** Where an output value comes from. Pointers refer to the body. */
export type OutputSpec =
  | { readonly kind: "pointer"; readonly pointer: string }
  | { readonly kind: "status" | "headers" | "text" | "base64" }
  | { readonly kind: "header"; readonly name: string }
  | { readonly kind: "constant"; readonly value: Json }
  /** Each element of a list, converted. */
  | { readonly kind: "list"; readonly pointer: string; readonly each: OutputSpec }
  | { readonly kind: "object"; readonly members: readonly (readonly [name: string, value: OutputSpec])[] };

/** How the pages of a list are requested. */
export interface PaginationSpec {
  /** link: the `next` of a Link header. cursor: a pointer. page and offset: counted. url: a pointer to the next URL. */
  readonly kind: "link" | "cursor" | "page" | "offset" | "url";
  /** A pointer to the list in the body. */
  readonly items: string;
  /** Whether the provider leaves an empty list out. */
  readonly itemsOptional: boolean;
  /** A pointer to the cursor or URL, in the body or in the last item of the page. */
  readonly cursor: { readonly of: "body" | "last_item"; readonly pointer: string } | undefined;
  /** A pointer to a boolean that says whether there are more pages. */
  readonly more: string | undefined;
  /** A pointer to a boolean: whether this is the last page. */
  readonly last: string | undefined;
  readonly param: string | undefined;
  readonly in: "query" | "body";
  readonly size: { readonly param: string; readonly value: number } | undefined;
  /** The number of the first page. */
  readonly first: number;
  readonly maxPages: number;
}

/** Where to continue a list, with the items read so far. */
export interface PageState {
  /** The number of pages that were read. */
  readonly pages: number;
  readonly items: readonly Json[];
  readonly next:
    | { readonly kind: "url"; readonly url: string }
    | { readonly kind: "param"; readonly value: string | number };
}

/** The answer of a provider, as the manifest reads it. */
export type ActionAnswer =
  | {
      readonly class: "ok";
      readonly output: Json;
      /** Set if there is another page: render the request again with it. The output then lacks the further pages. */
      readonly nextPage?: PageState | undefined;
      /** Whether the provider names a further page that is not read: beyond the manifest's maximum, or the same one again. */
      readonly truncated?: boolean | undefined;
      /** Set if the provider says that no calls are left: do not call before. */
      readonly retryAtMs?: number | undefined;
    }
  | {
      readonly class: Exclude<AnswerClass, "ok">;
      /** The provider's error code, or the HTTP status. Redact before showing it. */
      readonly code: string;
      /** The provider's message, shortened. Redact before showing it. */
      readonly message: string;
      readonly retryAtMs?: number | undefined;
    };
