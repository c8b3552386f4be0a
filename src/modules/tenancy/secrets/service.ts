import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Keyring } from "../../../platform/crypto/index.ts";
import { notFound, type Sql, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { isUlid, ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { bindingOf, type NewSecret, type Secret, type SecretChange } from "./domain/secret.ts";
import { type SealedValue, secretStore } from "./store.ts";

/** What the use cases stand on. */
export interface SecretParts {
  readonly events: EventRecorder;
  /** Undefined when the instance has no master key: metadata can be read then, and nothing else. */
  readonly keyring: Keyring | undefined;
}

/** A secret with its value, for other parts of the service. */
export interface OpenedSecret {
  readonly secret: Secret;
  readonly value: string;
}

/** The use cases of secrets. */
export type SecretService = ReturnType<typeof createSecretService>;

/** Makes the use cases of secrets. */
export function createSecretService({ events, keyring }: SecretParts) {
  function seal(tenantId: TenantId, id: string, value: string): SealedValue {
    const keys = needed(keyring);
    return { ciphertext: keys.seal(value, bindingOf({ tenantId, id })), keyId: keys.activeKeyId };
  }

  async function read(sql: Sql, tenantId: TenantId, nameOrId: string): Promise<OpenedSecret | undefined> {
    const sealed = await secretStore(sql).findSealed(tenantId, nameOrId);
    if (sealed === undefined) return undefined;
    const { ciphertext, ...secret } = sealed;
    return { secret, value: needed(keyring).open(ciphertext, bindingOf(sealed)) };
  }

  return {
    read,

    async createSecret(context: Context, { value, ...input }: NewSecret): Promise<Secret> {
      const { sql, tenantId, nowMs } = context;
      const id = ulid(nowMs);
      const secret = await secretStore(sql).insert({
        ...input,
        tenantId,
        id,
        version: 1,
        ...seal(tenantId, id, value),
        ...newStamps(nowMs),
      });
      await events.record(context, "secret.created", id, { name: secret.name });
      return secret;
    },

    async getSecret({ sql, tenantId }: Context, id: string): Promise<Secret> {
      const secret = await secretStore(sql).find(tenantId, id);
      if (secret === undefined) throw notFound("secret");
      return secret;
    },

    async updateSecret(
      context: Context,
      id: string,
      change: SecretChange,
      expectedVersion: number | undefined,
    ): Promise<Secret> {
      const { sql, tenantId, nowMs } = context;
      // A value is sealed to its record's id before the record is touched, so the id must at least be one.
      if (!isUlid(id)) throw notFound("secret");
      const store = secretStore(sql);
      if (isEmptyChange(change)) return unchangedRecord(await store.find(tenantId, id), expectedVersion, "secret");
      const sealed = change.value === undefined ? undefined : seal(tenantId, id, change.value);
      const wanted = { metadata: change.metadata, sealed };
      const secret = await store.update(tenantId, id, wanted, expectedVersion, new Date(nowMs));
      if (secret === undefined) throw updateRefusal(await store.find(tenantId, id), "secret");
      const { name, version } = secret;
      await events.record(context, "secret.updated", id, { name, version, fields: changedFields(change) });
      return secret;
    },

    async deleteSecret(context: Context, id: string): Promise<Secret> {
      const secret = await secretStore(context.sql).remove(context.tenantId, id);
      if (secret === undefined) throw notFound("secret");
      await events.record(context, "secret.deleted", id, { name: secret.name });
      return secret;
    },

    async accessSecret({ sql, tenantId }: Context, id: string): Promise<OpenedSecret> {
      const opened = isUlid(id) ? await read(sql, tenantId, id) : undefined;
      if (opened === undefined) throw notFound("secret");
      return opened;
    },
  };
}

function needed(keyring: Keyring | undefined): Keyring {
  if (keyring !== undefined) return keyring;
  throw fail("FAILED_PRECONDITION", {
    public: "Secrets need a master key; the setting connector.encryption_key is not set.",
  });
}
