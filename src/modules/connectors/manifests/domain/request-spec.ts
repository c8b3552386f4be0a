import type { HttpMethod } from "./language/request.ts";

export type { BodySpec, HttpMethod, RequestSpec } from "./language/request.ts";

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
