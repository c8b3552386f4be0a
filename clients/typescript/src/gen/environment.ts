// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Environments of a tenant, such as production: the scope of its configuration and keys. */
export interface EnvironmentService {
  /** Creates an environment. */
  create(request: CreateEnvironmentRequest, options?: CallOptions): Promise<Environment>;

  /** Returns one environment. */
  get(request: GetEnvironmentRequest, options?: CallOptions): Promise<Environment>;

  /** Changes the fields that are present. */
  update(request: UpdateEnvironmentRequest, options?: CallOptions): Promise<Environment>;

  /** Deletes an environment. The environment "production" cannot be deleted. */
  delete(request: DeleteEnvironmentRequest, options?: CallOptions): Promise<Environment>;

  /** Lists the environments of the caller's tenant. */
  list(request?: ListEnvironmentsRequest, options?: CallOptions): List<Environment>;
}

const environmentServiceOperations = {
  create: { verb: "POST", path: "/api/v2/environments", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/environments/{environment_id}" },
  update: { verb: "PATCH", path: "/api/v2/environments/{environment_id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/v2/environments/{environment_id}", keyed: true },
  list: { verb: "GET", path: "/api/v2/environments", result: "cursor" },
} as const satisfies Record<keyof EnvironmentService, Operation>;

/** Creates the service over a transport. */
export function createEnvironmentService(transport: Transport): EnvironmentService {
  return bindOperations<EnvironmentService>(transport, environmentServiceOperations);
}

/** Whether work in the environment is real. */
export type EnvironmentMode = "MODE_UNSPECIFIED" | "MODE_LIVE" | "MODE_SANDBOX";

/** Request to create an environment. */
export type CreateEnvironmentRequest = {
  /** A short name, unique in the tenant. */
  readonly key: string;
  /** The display name; the key when empty. */
  readonly name?: string;
  /** Whether work in the environment is real; sandbox when unspecified. */
  readonly mode?: EnvironmentMode;
};

/** A part of a tenant, such as production, with its own configuration and keys. */
export type Environment = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** A short name, unique in the tenant, such as "production". */
  readonly key: string;
  /** The display name. */
  readonly name: string;
  /** Whether work in the environment is real. */
  readonly mode: EnvironmentMode;
  /** The status. */
  readonly status: EnvironmentStatus;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** What the approval of a promotion needs. */
  readonly promotion_policy?: PromotionPolicy;
};

/** The status of an environment. */
export type EnvironmentStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_DISABLED" | "STATUS_DELETED";

/** What the approval of a promotion needs in an environment. */
export type PromotionPolicy = {
  /** How many people must approve a candidate. Each of them needs the scope promotion:approve. */
  readonly approvals: number;
  /** Whether the approvals of people who wrote a version of the candidate do not count. Those of its creator never count. */
  readonly exclude_authors: boolean;
};

/** Identifies an environment. */
export type GetEnvironmentRequest = {
  /** The id or the key of the environment. */
  readonly environment_id: string;
};

/** What the approval of a promotion needs in an environment. */
export type PromotionPolicyInput = {
  /** How many people must approve a candidate. Each of them needs the scope promotion:approve. */
  readonly approvals: number;
  /** Whether the approvals of people who wrote a version of the candidate do not count. Those of its creator never count. */
  readonly exclude_authors?: boolean;
};

/** Changes the fields that are present. */
export type UpdateEnvironmentRequest = {
  /** The id or the key of the environment. */
  readonly environment_id: string;
  /** The display name. */
  readonly name?: string;
  /** STATUS_ACTIVE or STATUS_DISABLED. */
  readonly status?: EnvironmentStatus;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
  /** What the approval of a promotion needs. A caller who changes it needs the scope promotion:approve. */
  readonly promotion_policy?: PromotionPolicyInput;
};

/** Selects the environment to delete. */
export type DeleteEnvironmentRequest = {
  /** The id or the key of the environment. */
  readonly environment_id: string;
};

/** Request for a page of environments. */
export type ListEnvironmentsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};
