// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Secrets: values that callers can set and use, but never read back. */
export interface SecretService {
  /** Creates a secret. */
  create(request: CreateSecretRequest, options?: CallOptions): Promise<Secret>;

  /** Returns the metadata of a secret, never its value. */
  get(request: GetSecretRequest, options?: CallOptions): Promise<Secret>;

  /** Changes the fields that are present. A new value creates a new version. */
  update(request: UpdateSecretRequest, options?: CallOptions): Promise<Secret>;

  /** Deletes a secret and its value. */
  delete(request: DeleteSecretRequest, options?: CallOptions): Promise<Secret>;

  /** Lists the secrets of the caller's tenant, never their values. */
  list(request?: ListSecretsRequest, options?: CallOptions): List<Secret>;
}

const secretServiceOperations = {
  create: { verb: "POST", path: "/api/v2/secrets", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/secrets/{secret_id}" },
  update: { verb: "PATCH", path: "/api/v2/secrets/{secret_id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/v2/secrets/{secret_id}", keyed: true },
  list: { verb: "GET", path: "/api/v2/secrets", result: "cursor" },
} as const satisfies Record<keyof SecretService, Operation>;

/** Creates the service over a transport. */
export function createSecretService(transport: Transport): SecretService {
  return bindOperations<SecretService>(transport, secretServiceOperations);
}

/** Request to create a secret. */
export type CreateSecretRequest = {
  /** Its name, unique in the tenant. */
  readonly name: string;
  /** The value, write-only. */
  readonly value: string;
  /** Free-form notes; not secret. */
  readonly metadata?: object;
};

/** The metadata of a secret. */
export type Secret = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** Its name, unique in the tenant. */
  readonly name: string;
  /** The version of its value. */
  readonly version: number;
  /** Free-form notes; not secret. */
  readonly metadata?: JsonObject;
  /** The id of the master key that encrypts it. */
  readonly encryption_key_id: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** Identifies a secret. */
export type GetSecretRequest = {
  /** The secret's id. */
  readonly secret_id: string;
};

/** Changes the fields that are present. */
export type UpdateSecretRequest = {
  /** The secret's id. */
  readonly secret_id: string;
  /** The new value, write-only. */
  readonly value?: string;
  /** Replaces the notes. */
  readonly metadata?: object;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the secret to delete. */
export type DeleteSecretRequest = {
  /** The secret's id. */
  readonly secret_id: string;
};

/** Request for a page of secrets. */
export type ListSecretsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};
