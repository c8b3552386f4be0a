// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Topics: named sets of subscribers to notify together. */
export interface TopicService {
  /** Creates a topic. */
  create(request: CreateTopicRequest, options?: CallOptions): Promise<Topic>;

  /** Returns one topic. */
  get(request: GetTopicRequest, options?: CallOptions): Promise<Topic>;

  /** Lists the topics of the caller's tenant. */
  list(request?: ListTopicsRequest, options?: CallOptions): List<Topic>;

  /** Replaces a topic's name and description. Its key never changes. */
  update(request: UpdateTopicRequest, options?: CallOptions): Promise<Topic>;

  /** Deletes a topic and all subscriptions to it. Earlier broadcasts still reach the members at that time. */
  delete(request: DeleteTopicRequest, options?: CallOptions): Promise<Topic>;

  /** Adds up to 1,000 subscribers to a topic: all of them or none. The context keys of existing members are replaced. */
  addSubscribers(request: AddTopicSubscribersRequest, options?: CallOptions): Promise<AddTopicSubscribersResponse>;

  /** Adds up to 10,000 subscribers to a topic in the background, in batches of 500. Unknown subscribers are counted and skipped. The import reports its progress. */
  importSubscribers(request: ImportTopicSubscribersRequest, options?: CallOptions): Promise<TopicImport>;

  /** Returns the progress of an import. Imports are kept for seven days after they end. */
  getImport(request: GetTopicImportRequest, options?: CallOptions): Promise<TopicImport>;

  /** Cancels an import: no further subscriber is added. Those that were added stay. An import that has ended is refused. */
  cancelImport(request: CancelTopicImportRequest, options?: CallOptions): Promise<TopicImport>;

  /** Removes up to 1,000 subscribers from a topic. Subscribers that are not in it are ignored. */
  removeSubscribers(request: RemoveTopicSubscribersRequest, options?: CallOptions): Promise<RemoveTopicSubscribersResponse>;

  /** Lists the subscribers of a topic. */
  listSubscribers(request: ListTopicSubscribersRequest, options?: CallOptions): List<Subscription>;
}

const topicServiceOperations = {
  create: { verb: "POST", path: "/api/v2/notification/topics", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/notification/topics/{key}" },
  list: { verb: "GET", path: "/api/v2/notification/topics", result: "cursor" },
  update: { verb: "PUT", path: "/api/v2/notification/topics/{key}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/v2/notification/topics/{key}", keyed: true },
  addSubscribers: { verb: "POST", path: "/api/v2/notification/topics/{key}/subscribers", body: "*", keyed: true },
  importSubscribers: { verb: "POST", path: "/api/v2/notification/topics/{key}/subscribers:import", body: "*", keyed: true },
  getImport: { verb: "GET", path: "/api/v2/notification/topics/{key}/imports/{import_id}" },
  cancelImport: { verb: "POST", path: "/api/v2/notification/topics/{key}/imports/{import_id}:cancel", body: "*", keyed: true },
  removeSubscribers: { verb: "POST", path: "/api/v2/notification/topics/{key}/subscribers:remove", body: "*", keyed: true },
  listSubscribers: { verb: "GET", path: "/api/v2/notification/topics/{key}/subscribers", result: "cursor" },
} as const satisfies Record<keyof TopicService, Operation>;

/** Creates the service over a transport. */
export function createTopicService(transport: Transport): TopicService {
  return bindOperations<TopicService>(transport, topicServiceOperations);
}

/** The membership of a subscriber in a topic. */
export type Subscription = {
  /** The id, a ULID. It changes when the context keys change. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The topic's key. */
  readonly topic_key: string;
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** The context keys, sorted. */
  readonly context_keys: readonly string[];
  /** Since when the subscriber is in the topic. */
  readonly created_at?: string;
};

/** Request to create a topic. */
export type CreateTopicRequest = {
  /** The key, unique in the tenant: lower-case letters and digits, separated by single dots or underscores (for example: releases.web). */
  readonly key: string;
  /** The display name; the key when empty. */
  readonly name?: string;
  /** The description. */
  readonly description?: string;
};

/** A named set of subscribers. */
export type Topic = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The key, unique in the tenant: lower-case letters and digits, separated by single dots or underscores (for example: releases.web). */
  readonly key: string;
  /** The display name. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** Identifies a topic. */
export type GetTopicRequest = {
  /** The topic's key. */
  readonly key: string;
};

/** Request for a page of topics. */
export type ListTopicsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Replaces the name and description of a topic. */
export type UpdateTopicRequest = {
  /** The topic's key. */
  readonly key: string;
  /** The display name; the key when empty. */
  readonly name?: string;
  /** The description. */
  readonly description?: string;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the topic to delete. */
export type DeleteTopicRequest = {
  /** The topic's key. */
  readonly key: string;
};

/** Selects the subscribers to add. */
export type AddTopicSubscribersRequest = {
  /** The topic's key. */
  readonly key: string;
  /** The subscribers, each by its id or its external id. An unknown one is rejected, and nobody is added. */
  readonly subscriber_ids: readonly string[];
  /** Their context keys in the topic; default none. */
  readonly context_keys?: readonly string[];
};

/** The result. The three counts add up to the distinct subscribers of the request. */
export type AddTopicSubscribersResponse = {
  /** The number of new members. */
  readonly added: number;
  /** The number of members whose context keys changed. */
  readonly changed: number;
  /** The number of members that already had these context keys. */
  readonly unchanged: number;
};

/** Selects the subscribers to import. */
export type ImportTopicSubscribersRequest = {
  /** The topic's key. */
  readonly key: string;
  /** The subscribers, each by its id or its external id. */
  readonly subscriber_ids: readonly string[];
  /** Their context keys in the topic; default none. */
  readonly context_keys?: readonly string[];
};

/** An import of members into a topic. */
export type TopicImport = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The topic's key. */
  readonly topic_key: string;
  /** "running", "completed", "cancelled", or "failed" (the topic was deleted, or it failed too often). */
  readonly status: string;
  /** The number of distinct names. */
  readonly total: number;
  /** The number of names processed so far. */
  readonly processed: number;
  /** The number of new members. */
  readonly added: number;
  /** The number of members whose context keys changed. */
  readonly changed: number;
  /** The number of members that already had these context keys. */
  readonly unchanged: number;
  /** The number of names that belong to no subscriber. */
  readonly unknown: number;
  /** The first 100 of them. */
  readonly unknown_names: readonly string[];
  /** When it was accepted. */
  readonly created_at?: string;
  /** When it last made progress. */
  readonly updated_at?: string;
};

/** Selects an import. */
export type GetTopicImportRequest = {
  /** The topic's key. */
  readonly key: string;
  /** The import's id. */
  readonly import_id: string;
};

/** Identifies an import to cancel. */
export type CancelTopicImportRequest = {
  /** The topic's key. */
  readonly key: string;
  /** The import's id. */
  readonly import_id: string;
};

/** Selects the subscribers to remove. */
export type RemoveTopicSubscribersRequest = {
  /** The topic's key. */
  readonly key: string;
  /** The subscribers, each by its id or its external id. Subscribers that are not in the topic are ignored. */
  readonly subscriber_ids: readonly string[];
};

/** The result. */
export type RemoveTopicSubscribersResponse = {
  /** The number of removed members. */
  readonly removed: number;
};

/** Request for a page of a topic's subscribers. */
export type ListTopicSubscribersRequest = {
  /** The topic's key. */
  readonly key: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};
