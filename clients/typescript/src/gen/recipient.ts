// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Recipients: people, programs or systems that process work, each in one pool. */
export interface RecipientService {
  /** Adds a recipient to a pool. */
  create(request: CreateRecipientRequest, options?: CallOptions): Promise<Recipient>;

  /** Adds up to 1,000 recipients to a pool: all of them or none. */
  batchCreate(request: BatchCreateRecipientsRequest, options?: CallOptions): Promise<BatchCreateRecipientsResponse>;

  /** Returns one recipient. */
  get(request: GetRecipientRequest, options?: CallOptions): Promise<Recipient>;

  /** Lists the recipients of a pool, or of all pools. */
  list(request: ListRecipientsRequest, options?: CallOptions): List<Recipient>;

  /** Changes the fields that are present. */
  update(request: UpdateRecipientRequest, options?: CallOptions): Promise<Recipient>;

  /** Pauses a recipient: it gets no new items. It keeps the items that it has leased. With for_s, it is resumed by itself. */
  pause(request: PauseRecipientRequest, options?: CallOptions): Promise<Recipient>;

  /** Resumes a recipient. It ramps up during the pool's slow start. */
  resume(request: ResumeRecipientRequest, options?: CallOptions): Promise<Recipient>;

  /** Removes a recipient from its pool. Items that it has leased can still be completed. */
  delete(request: DeleteRecipientRequest, options?: CallOptions): Promise<Recipient>;
}

const recipientServiceOperations = {
  create: { verb: "POST", path: "/api/pools/{pool_id}/recipients", body: "*", keyed: true },
  batchCreate: { verb: "POST", path: "/api/pools/{pool_id}/recipients:batch", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/recipients/{recipient_id}" },
  list: { verb: "GET", path: "/api/pools/{pool_id}/recipients", result: "cursor" },
  update: { verb: "PATCH", path: "/api/recipients/{recipient_id}", body: "*", keyed: true },
  pause: { verb: "POST", path: "/api/recipients/{recipient_id}/pause", body: "*", keyed: true },
  resume: { verb: "POST", path: "/api/recipients/{recipient_id}/resume", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/recipients/{recipient_id}", keyed: true },
} as const satisfies Record<keyof RecipientService, Operation>;

/** Creates the service over a transport. */
export function createRecipientService(transport: Transport): RecipientService {
  return bindOperations<RecipientService>(transport, recipientServiceOperations);
}

/** The status of a recipient. */
export type RecipientStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_PAUSED" | "STATUS_DRAINING" | "STATUS_EJECTED" | "STATUS_OFFLINE" | "STATUS_REMOVED";

/** How items are delivered to a recipient. */
export type RecipientDeliveryInput = {
  /** The mode; default pull. */
  readonly mode?: RecipientDeliveryMode;
  /** The URL for pushed items, https or http. */
  readonly url?: string;
  /** The name of the secret that signs pushed items. */
  readonly secret_ref?: string;
  /** The connector action that pushed items are delivered with, instead of a URL. An action without a key removes it. */
  readonly action?: DeliveryActionInput;
};

/** Delivery modes. */
export type RecipientDeliveryMode = "MODE_UNSPECIFIED" | "MODE_PULL" | "MODE_PUSH" | "MODE_DECISION_ONLY";

/** A connector action that delivers items. */
export type DeliveryActionInput = {
  /** The action, such as slack.message.send. */
  readonly key?: string;
  /** The connection; empty for providers without authentication. */
  readonly connection_id?: string;
  /** The input of the action. Texts that start with = are CEL expressions of the item, such as =item.payload.title. When absent, the input is the item. */
  readonly input?: object;
};

/** Request to create a recipient. */
export type CreateRecipientRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The display name, unique in its pool. */
  readonly name: string;
  /** The initial status: active (when unspecified), paused, draining or offline. */
  readonly status?: RecipientStatus;
  /** Its weight relative to others, 0 to 1,000,000; default 100, 0 excludes it. */
  readonly weight?: number;
  /** The maximum number of items it processes at the same time; default 0, no limit. */
  readonly capacity?: number;
  /** Lower is chosen first; default 100. */
  readonly priority?: number;
  /** The attributes for rules, at most 16 KiB as JSON. */
  readonly attributes?: object;
  /** Skills by name, each with its level, 1 to 5. */
  readonly skills?: Readonly<Record<string, number>>;
  /** The expected cost of an item, until outcomes report it; default 0. */
  readonly cost?: number;
  /** How items are delivered to it; default: it leases them. */
  readonly delivery?: RecipientDeliveryInput;
};

/** A person, program or system that processes work. */
export type Recipient = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool it belongs to. */
  readonly pool_id: string;
  /** The display name, unique in its pool. */
  readonly name: string;
  /** The status. */
  readonly status: RecipientStatus;
  /** Its weight relative to others; 0 excludes it. */
  readonly weight: number;
  /** The maximum number of items it processes at the same time; 0 for no limit. */
  readonly capacity: number;
  /** Lower is chosen first. */
  readonly priority: number;
  /** The attributes for rules. */
  readonly attributes?: JsonObject;
  /** Skills by name, each with its level, 1 to 5. */
  readonly skills: Readonly<Record<string, number>>;
  /** The expected cost of an item, until outcomes report it. */
  readonly cost: number;
  /** How items are delivered to it. */
  readonly delivery?: RecipientDelivery;
  /** The number of items it has leased. */
  readonly in_flight: number;
  /** When an item was last assigned to it. */
  readonly last_assigned_at?: string;
  /** Until when it is ejected; absent if it is not. */
  readonly ejected_until?: string;
  /** Until when others are preferred because of an anomaly; absent if they are not. */
  readonly deprioritized_until?: string;
  /** Since when it is available; slow start counts from this time. */
  readonly available_since?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** Why it is paused, and until when; absent if it is not paused. */
  readonly pause?: RecipientPause;
};

/** How items are delivered to a recipient. */
export type RecipientDelivery = {
  /** The mode; default pull. */
  readonly mode?: RecipientDeliveryMode;
  /** The URL for pushed items, https or http. */
  readonly url?: string;
  /** The name of the secret that signs pushed items. */
  readonly secret_ref?: string;
  /** The connector action that pushed items are delivered with, instead of a URL. An action without a key removes it. */
  readonly action?: DeliveryAction;
};

/** A connector action that delivers items. */
export type DeliveryAction = {
  /** The action, such as slack.message.send. */
  readonly key: string;
  /** The connection; empty for providers without authentication. */
  readonly connection_id: string;
  /** The input of the action. Texts that start with = are CEL expressions of the item, such as =item.payload.title. When absent, the input is the item. */
  readonly input?: JsonObject;
};

/** The pause of a recipient. */
export type RecipientPause = {
  /** What paused it: request (a caller) or anomaly (the action auto-pause). */
  readonly cause: string;
  /** The reason in words; may be empty. */
  readonly reason: string;
  /** Who paused it: the caller, or anomaly-detection. */
  readonly actor: string;
  /** When it was paused. */
  readonly since?: string;
  /** When it is resumed automatically; absent if somebody has to resume it. */
  readonly until?: string;
  /** The anomaly that paused it; empty for none. */
  readonly anomaly_id: string;
};

/** A recipient to add. */
export type NewRecipient = {
  /** The display name, unique in its pool. */
  readonly name: string;
  /** The initial status: active (when unspecified), paused, draining or offline. */
  readonly status?: RecipientStatus;
  /** Its weight relative to others, 0 to 1,000,000; default 100, 0 excludes it. */
  readonly weight?: number;
  /** The maximum number of items it processes at the same time; default 0, no limit. */
  readonly capacity?: number;
  /** Lower is chosen first; default 100. */
  readonly priority?: number;
  /** The attributes for rules, at most 16 KiB as JSON. */
  readonly attributes?: object;
  /** Skills by name, each with its level, 1 to 5. */
  readonly skills?: Readonly<Record<string, number>>;
  /** The expected cost of an item, until outcomes report it; default 0. */
  readonly cost?: number;
  /** How items are delivered to it; default: it leases them. */
  readonly delivery?: RecipientDeliveryInput;
};

/** Request to create many recipients. */
export type BatchCreateRecipientsRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The recipients, with unique names. */
  readonly recipients: readonly NewRecipient[];
};

/** The new recipients. */
export type BatchCreateRecipientsResponse = {
  /** The new recipients, in the order of the request. */
  readonly recipients: readonly Recipient[];
};

/** Identifies a recipient. */
export type GetRecipientRequest = {
  /** The recipient's id. */
  readonly recipient_id: string;
};

/** Request for a page of a pool's recipients. */
export type ListRecipientsRequest = {
  /** The pool's id, or - for all pools. */
  readonly pool_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only recipients in this status; removed ones are never listed. */
  readonly status?: RecipientStatus;
  /** Only those with this name. */
  readonly name?: string;
};

/** All skills of a recipient. */
export type RecipientSkills = {
  /** Skills by name, each with its level, 1 to 5. */
  readonly skills?: Readonly<Record<string, number>>;
};

/** Changes the fields that are present. */
export type UpdateRecipientRequest = {
  /** The recipient's id. */
  readonly recipient_id: string;
  /** The display name. */
  readonly name?: string;
  /** STATUS_ACTIVE, STATUS_PAUSED, STATUS_DRAINING or STATUS_OFFLINE. */
  readonly status?: RecipientStatus;
  /** Its weight relative to others; 0 excludes it. */
  readonly weight?: number;
  /** The maximum number of items it processes at the same time; 0 for no limit. */
  readonly capacity?: number;
  /** Lower is chosen first. */
  readonly priority?: number;
  /** Replaces the attributes for rules. */
  readonly attributes?: object;
  /** Replaces the skills. */
  readonly skill_set?: RecipientSkills;
  /** The expected cost of an item, until outcomes report it. */
  readonly cost?: number;
  /** The changed fields of the delivery. */
  readonly delivery?: RecipientDeliveryInput;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the recipient to pause. */
export type PauseRecipientRequest = {
  /** The recipient's id. */
  readonly recipient_id: string;
  /** The reason, for people. */
  readonly reason?: string;
  /** Seconds until it is resumed by itself; 0 if somebody has to resume it. A repeated call with another end replaces the pause. */
  readonly for_s?: number;
};

/** Selects the recipient to resume. */
export type ResumeRecipientRequest = {
  /** The recipient's id. */
  readonly recipient_id: string;
};

/** Selects the recipient to remove. */
export type DeleteRecipientRequest = {
  /** The recipient's id. */
  readonly recipient_id: string;
};
