// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Suppressions: addresses that no notification is sent to, whoever they belong to. Providers' reports add them, and callers can. */
export interface SuppressionService {
  /** Suppresses an address. */
  create(request: CreateSuppressionRequest, options?: CallOptions): Promise<Suppression>;

  /** Returns one suppression. */
  get(request: GetSuppressionRequest, options?: CallOptions): Promise<Suppression>;

  /** Lists the suppressions of the caller's tenant, newest first. */
  list(request?: ListSuppressionsRequest, options?: CallOptions): List<Suppression>;

  /** Removes a suppression, so that notifications are sent to the address again. */
  delete(request: DeleteSuppressionRequest, options?: CallOptions): Promise<Suppression>;
}

const suppressionServiceOperations = {
  create: { verb: "POST", path: "/api/v2/notification/suppressions", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/notification/suppressions/{id}" },
  list: { verb: "GET", path: "/api/v2/notification/suppressions", result: "cursor" },
  delete: { verb: "DELETE", path: "/api/v2/notification/suppressions/{id}", keyed: true },
} as const satisfies Record<keyof SuppressionService, Operation>;

/** Creates the service over a transport. */
export function createSuppressionService(transport: Transport): SuppressionService {
  return bindOperations<SuppressionService>(transport, suppressionServiceOperations);
}

/** Request to suppress an address. */
export type CreateSuppressionRequest = {
  /** The channel. */
  readonly channel: "email" | "sms" | "push" | "chat";
  /** The address or token. */
  readonly identity: string;
  /** A note for people, such as who asked for it. */
  readonly note?: string;
};

/** An address that no notification is sent to. */
export type Suppression = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The channel: email, sms, push or chat. */
  readonly channel: string;
  /** The address or token. Email addresses are in lower case. */
  readonly identity: string;
  /** Why: bounced (permanently), complained, unsubscribed, unreachable (a provider refused the address) or manual. */
  readonly reason: string;
  /** A note of whoever suppressed it; empty if a provider did. */
  readonly note: string;
  /** The delivery after which it was suppressed; empty if it was suppressed by hand. */
  readonly delivery_id: string;
  /** The provider of that delivery; empty if it was suppressed by hand. */
  readonly provider_key: string;
  /** When it was suppressed. */
  readonly created_at?: string;
};

/** Identifies a suppression. */
export type GetSuppressionRequest = {
  /** The suppression's id. */
  readonly id: string;
};

/** Request for a page of suppressions. */
export type ListSuppressionsRequest = {
  /** Only those of this channel. */
  readonly channel?: "" | "email" | "sms" | "push" | "chat";
  /** Only this address. Email addresses are compared without regard to case. */
  readonly identity?: string;
  /** Only those with this reason. */
  readonly reason?: "" | "bounced" | "complained" | "unsubscribed" | "unreachable" | "manual";
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects the suppression to remove. */
export type DeleteSuppressionRequest = {
  /** The suppression's id. */
  readonly id: string;
};
