import type { Json } from "../../../../platform/document/index.ts";
import type { AnswerClass } from "./language/response.ts";

export type { AnswerClass, ErrorRule, OutputSpec, PaginationSpec, RateLimitHint } from "./language/response.ts";

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
