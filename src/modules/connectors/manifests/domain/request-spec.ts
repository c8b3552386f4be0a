import type { Placeholder, TextTemplate, ValueTemplate } from "./template.ts";

export const httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof httpMethods)[number];

export type BodySpec =
  | { readonly kind: "json" | "form" | "text" | "base64"; readonly value: ValueTemplate }
  | {
      readonly kind: "graphql";
      /** Literal, or exactly one placeholder. Braces in it have no meaning. */
      readonly query: ValueTemplate;
      readonly variables: ValueTemplate | undefined;
      readonly operationName: string | undefined;
    };

/** An HTTP request as a manifest describes it. */
export interface RequestSpec {
  /** A placeholder for an input that is one of some methods. */
  readonly method: HttpMethod | Placeholder;
  /** Appended to the base URL; or an absolute URL that replaces it. */
  readonly path: TextTemplate | undefined;
  readonly url: TextTemplate | undefined;
  readonly query: ValueTemplate | undefined;
  readonly headers: ValueTemplate | undefined;
  readonly body: BodySpec | undefined;
}

/** An HTTP request that is ready to be sent. It contains credentials: never log it. */
export interface HttpRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

/** Why a request cannot be rendered. The message names the placeholder and never contains its value. */
export interface RenderFailure {
  readonly fault: "missing_value" | "invalid_value" | "host_not_allowed" | "unsupported_auth";
  /** The placeholder or the place, for example `input.owner` or `base_url`. */
  readonly place: string;
  readonly message: string;
}
