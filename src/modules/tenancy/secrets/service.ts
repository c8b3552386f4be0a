import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Keyring } from "../../../platform/crypto/index.ts";
import { notFound, requireFound, type Sql, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { isUlid, ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { bindingOf, type NewSecret, type Secret, type SecretChange } from "./domain/secret.ts";
import { type SealedValue, secretStore } from "./store.ts";

export interface SecretParts {
  readonly events: EventRecorder;
  /** Undefined if the instance has no master key. Then only metadata can be read. */
  readonly keyring: Keyring | undefined;
}

/** A secret with its decrypted value, for use inside the service. */
export interface DecryptedSecret {
  readonly secret: Secret;
  readonly value: string;
}

export type SecretService = ReturnType<typeof createSecretService>;

export function createSecretService({ events, keyring }: SecretParts) {
  function seal(tenantId: TenantId, id: string, value: string): SealedValue {
    const keys = requireKeyring(keyring);
    return { ciphertext: keys.seal(value, bindingOf({ tenantId, id })), keyId: keys.activeKeyId };
  }

  async function read(sql: Sql, tenantId: TenantId, nameOrId: string): Promise<DecryptedSecret | undefined> {
    const sealed = await secretStore(sql).findSealed(tenantId, nameOrId);
    if (sealed === undefined) return undefined;
    const { ciphertext, ...secret } = sealed;
    return { secret, value: requireKeyring(keyring).open(ciphertext, bindingOf(sealed)) };
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
      return requireFound(await secretStore(sql).find(tenantId, id), "secret");
    },

    async updateSecret(context: Context, id: string, change: SecretChange, expectedVersion: number | undefined) {
      const { sql, tenantId, nowMs } = context;
      // The value is bound to the id before the record is read, so the id must be valid.
      if (!isUlid(id)) throw notFound("secret");
      const store = secretStore(sql);
      if (isEmptyChange(change)) return unchangedRecord(await store.find(tenantId, id), expectedVersion, "secret");
      const sealed = change.value === undefined ? undefined : seal(tenantId, id, change.value);
      const sealedChange = { metadata: change.metadata, sealed };
      const secret = await store.update(tenantId, id, sealedChange, expectedVersion, new Date(nowMs));
      if (secret === undefined) throw updateRefusal(await store.find(tenantId, id), "secret");
      const { name, version } = secret;
      await events.record(context, "secret.updated", id, { name, version, fields: changedFields(change) });
      return secret;
    },

    async deleteSecret(context: Context, id: string): Promise<Secret> {
      const secret = requireFound(await secretStore(context.sql).remove(context.tenantId, id), "secret");
      await events.record(context, "secret.deleted", id, { name: secret.name });
      return secret;
    },

    async accessSecret({ sql, tenantId }: Context, id: string): Promise<DecryptedSecret> {
      const decrypted = isUlid(id) ? await read(sql, tenantId, id) : undefined;
      if (decrypted === undefined) throw notFound("secret");
      return decrypted;
    },
  };
}

function requireKeyring(keyring: Keyring | undefined): Keyring {
  if (keyring !== undefined) return keyring;
  throw fail("FAILED_PRECONDITION", {
    public:
      "Secrets require a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
  });
}
