import type { CelExpression } from "../../../../platform/cel/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { RequestSpec } from "./request-spec.ts";
import type { ErrorRule, OutputSpec, PaginationSpec } from "./response-spec.ts";

/** A part of the text that a webhook signature covers. */
export type SignedPart =
  | { readonly kind: "literal"; readonly text: string }
  /** sorted_form: the names and values of a form body, sorted by name and joined without separators (Twilio). */
  | { readonly kind: "body" | "timestamp" | "url" | "sorted_form" }
  | { readonly kind: "header"; readonly name: string };

export interface SignatureTimestamp {
  /** A header, or a member of a signature header of the form `t=…,v1=…`. */
  readonly from: { readonly header: string } | { readonly member: string };
  readonly unit: "epoch_s" | "epoch_ms" | "rfc3339";
  readonly toleranceS: number;
}

/** How a webhook delivery proves its origin. */
export type VerifySpec =
  | {
      readonly kind: "hmac";
      readonly algorithm: "sha256" | "sha1" | "sha512";
      readonly encoding: "hex" | "base64";
      readonly header: string;
      readonly prefix: string;
      /** The member with the signature, for headers of the form `t=…,v1=…` (Stripe). */
      readonly member: string | undefined;
      readonly over: readonly SignedPart[];
      readonly timestamp: SignatureTimestamp | undefined;
      /** How the bytes of the key are written in the secret. */
      readonly key: "text" | "base64" | "hex";
    }
  | {
      readonly kind: "ed25519";
      readonly header: string;
      readonly encoding: "hex" | "base64";
      readonly over: readonly SignedPart[];
      readonly timestamp: SignatureTimestamp | undefined;
    }
  /** ECDSA with SHA-256; the secret is the public key in DER (SPKI), base64. */
  | {
      readonly kind: "ecdsa";
      readonly header: string;
      readonly over: readonly SignedPart[];
      readonly timestamp: SignatureTimestamp | undefined;
    }
  /** An HMAC over members of the body (Mailgun). It does not cover the rest of the body. */
  | {
      readonly kind: "body_hmac";
      /** Pointers into the body. */
      readonly signature: string;
      readonly over: readonly string[];
      readonly timestamp: { readonly pointer: string; readonly toleranceS: number };
    }
  | { readonly kind: "token"; readonly in: "header" | "query"; readonly name: string; readonly prefix: string }
  /** The secret is a member of the body, as a pointer. */
  | { readonly kind: "body_token"; readonly pointer: string }
  /** Only the secret URL protects the intake. */
  | { readonly kind: "none"; readonly reason: string };

/** The reply to a provider that checks the URL of a subscription. */
export interface ChallengeSpec {
  readonly when: CelExpression;
  readonly respond:
    | { readonly kind: "text"; readonly pointer: string }
    | { readonly kind: "query"; readonly name: string }
    | { readonly kind: "header"; readonly name: string }
    | { readonly kind: "json"; readonly members: readonly (readonly [name: string, pointer: string])[] };
}

/** How a subscription is made known to the provider. Requests use `{subscription.callback_url}`, `.secret` and `.id`. */
export interface RegistrationSpec {
  readonly request: RequestSpec;
  /** A pointer to the provider's id of the subscription. */
  readonly id: string;
  /** generated: the service creates the secret. Otherwise a pointer to it in the answer. */
  readonly secret: { readonly kind: "generated" } | { readonly kind: "answer"; readonly pointer: string };
  readonly expires:
    | { readonly at: string; readonly unit: "rfc3339" | "epoch_s" | "epoch_ms" }
    | { readonly afterS: number }
    | undefined;
  readonly renew: RequestSpec | undefined;
  readonly unregister: RequestSpec | undefined;
}

export interface PollSpec {
  readonly request: RequestSpec;
  readonly items: string;
  /** The query parameter that limits the answer to changes since a time. */
  readonly since:
    | { readonly param: string; readonly in: "query" | "body"; readonly format: "rfc3339" | "epoch_s" | "epoch_ms" }
    | undefined;
  readonly lookbackS: number;
  /** Pointers into an item; together they identify one version of it. */
  readonly key: readonly string[];
  readonly everyS: number;
  readonly paginate: PaginationSpec | undefined;
}

/** Something that happens at a provider. */
export interface Trigger {
  /** The global key, for example `github.issue.changed`. */
  readonly key: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly kind: "webhook" | "poll";
  readonly runtime: { readonly status: "executable" | "catalog_only" | "deprecated"; readonly reason: string };
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | undefined;
  /** Set for webhooks. */
  readonly verify: VerifySpec | undefined;
  readonly challenge: ChallengeSpec | undefined;
  /** Filters and names deliveries; variables are headers, query, body, item and input. Empty: everything matches. */
  readonly events: readonly { readonly when: CelExpression | undefined; readonly type: string }[];
  /** A pointer to the list of a batch. */
  readonly items: string | undefined;
  readonly dedup: CelExpression | undefined;
  readonly register: RegistrationSpec | undefined;
  readonly poll: PollSpec | undefined;
  readonly errors: readonly ErrorRule[];
  readonly output: OutputSpec | undefined;
}
