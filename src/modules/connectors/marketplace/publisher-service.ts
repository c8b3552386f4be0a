import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { readPublicKey } from "../../../platform/crypto/index.ts";
import { lockFor, notFound, type Sql } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { type BuiltinPacks, isReservedPublisher } from "./builtin-packs.ts";
import type { PageNumber } from "./domain/page-number.ts";
import type { TrustedKey } from "./pack-signature.ts";
import { type PublisherKey, publisherKeyStore } from "./publisher-key-store.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly builtin: () => Promise<BuiltinPacks>;
}

const keysMax = 200;

/** The use cases of publisher keys. */
export type PublisherService = ReturnType<typeof createPublisherService>;

export function createPublisherService({ events, builtin }: Dependencies) {
  async function builtinKeys(publisher: string): Promise<PublisherKey[]> {
    const { keys } = await builtin();
    return keys.filter((key) => publisher === "" || key.publisher === publisher).map(fromBuiltin);
  }

  return {
    async registerKey(context: Context, publisher: string, publicKey: string): Promise<PublisherKey> {
      const { sql, tenantId, nowMs } = context;
      if (isReservedPublisher(publisher)) {
        throw invalid("publisher", "reserved", "must not start with switchyard, which is reserved for built-in packs");
      }
      const key = readPublicKey(publicKey);
      const store = publisherKeyStore(sql);
      await lockFor(sql, "marketplace_keys", tenantId);
      const existing = await store.find(tenantId, key.id);
      if (existing !== undefined) {
        throw fail("ALREADY_EXISTS", {
          public: `The key is registered for ${existing.publisher} and is ${existing.status}. A key belongs to one publisher.`,
        });
      }
      if ((await store.count(tenantId, "")) >= keysMax) {
        throw fail("FAILED_PRECONDITION", { public: `A tenant can have at most ${keysMax} publisher keys.` });
      }
      const registered = await store.insert({
        ...{ tenantId, id: key.id, publisher, publicKey: key.publicKey, status: "active", revokeReason: "" },
        ...{ createdAt: new Date(nowMs), revokedAt: null },
      });
      await events.record(context, "marketplace.key.registered", registered.id, { publisher });
      return registered;
    },

    /** Lists keys: built-in ones first. The total is exact. */
    async listKeys({ sql, tenantId }: Context, publisher: string, { offset, limit }: PageNumber) {
      const shipped = await builtinKeys(publisher);
      const store = publisherKeyStore(sql);
      const own = await store.list(tenantId, publisher, Math.max(0, offset - shipped.length), limit);
      const keys = [...shipped.slice(offset, offset + limit), ...own].slice(0, limit);
      return { keys, total: shipped.length + (await store.count(tenantId, publisher)) };
    },

    /** Revokes a key permanently. A second revocation changes nothing. */
    async revokeKey(context: Context, id: string, reason: string): Promise<PublisherKey> {
      const { sql, tenantId, nowMs } = context;
      const store = publisherKeyStore(sql);
      const revoked = await store.revoke(tenantId, id, reason, new Date(nowMs));
      if (revoked === undefined) {
        const current = await store.find(tenantId, id);
        if (current === undefined) throw notFound("publisher key");
        return current;
      }
      await events.record(context, "marketplace.key.revoked", id, { publisher: revoked.publisher, reason });
      return revoked;
    },

    /** The keys that a tenant knows of a publisher, revoked ones included. */
    async keysOf(sql: Sql, tenantId: TenantId, publisher: string): Promise<readonly TrustedKey[]> {
      if (isReservedPublisher(publisher)) return (await builtin()).keys;
      const keys = await publisherKeyStore(sql).ofPublisher(tenantId, publisher);
      return keys.map(({ id, publicKey, status }) => ({ id, publicKey, publisher, revoked: status === "revoked" }));
    },
  };
}

function fromBuiltin({ id, publisher, publicKey, revoked }: TrustedKey): PublisherKey {
  const status = revoked ? "revoked" : "active";
  return { id, publisher, publicKey, status, revokeReason: "", createdAt: null, revokedAt: null };
}
