// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";

/** Subscriber tokens: short-lived credentials with which the web page of a subscriber reads and marks its inbox and changes its preferences, and nothing else. */
export interface SubscriberTokenService {
  /** Creates a token for an active subscriber. Call it from your backend, and send the token to the subscriber's page. Only this response contains it. */
  create(request: CreateSubscriberTokenRequest, options?: CallOptions): Promise<CreateSubscriberTokenResponse>;

  /** Revokes all tokens of a subscriber. Calls are refused at once, and open streams end within a second. Deleting a subscriber revokes its tokens, too. */
  revokeSubscriberTokens(request: RevokeSubscriberTokensRequest, options?: CallOptions): Promise<RevokeSubscriberTokensResponse>;

  /** Revokes one token of a subscriber by the id that its creation returned. The other tokens stay valid. At most 100 tokens of a subscriber that have not expired can be revoked one by one. */
  revokeSubscriberToken(request: RevokeSubscriberTokenRequest, options?: CallOptions): Promise<RevokeSubscriberTokenResponse>;
}

const subscriberTokenServiceOperations = {
  create: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/tokens", body: "*", keyed: true },
  revokeSubscriberTokens: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/tokens:revoke", body: "*", keyed: true },
  revokeSubscriberToken: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/tokens/{token_id}:revoke", body: "*", keyed: true },
} as const satisfies Record<keyof SubscriberTokenService, Operation>;

/** Creates the service over a transport. */
export function createSubscriberTokenService(transport: Transport): SubscriberTokenService {
  return bindOperations<SubscriberTokenService>(transport, subscriberTokenServiceOperations);
}

/** Creates a token. */
export type CreateSubscriberTokenRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The lifetime in seconds; default 900. */
  readonly ttl_s?: number;
};

/** A token. */
export type CreateSubscriberTokenResponse = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The token, for the header Authorization: Bearer <token>. */
  readonly token: string;
  /** When it expires. */
  readonly expires_at?: string;
  /** The id of the token, a ULID. It is not secret, and it is needed to revoke this token alone. */
  readonly token_id: string;
};

/** Identifies a subscriber. */
export type RevokeSubscriberTokensRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
};

/** The subscriber whose tokens are revoked. */
export type RevokeSubscriberTokensResponse = {
  /** The subscriber. */
  readonly subscriber_id: string;
};

/** Identifies a token. */
export type RevokeSubscriberTokenRequest = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The id of the token. */
  readonly token_id: string;
};

/** The revoked token. */
export type RevokeSubscriberTokenResponse = {
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The id of the token. */
  readonly token_id: string;
};
