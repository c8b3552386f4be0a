import type { KeyObject } from "node:crypto";
import { fail } from "../../../../errors/index.ts";
import {
  canonicalJson,
  createStatementKey,
  digestOfStatement,
  type Keyring,
  readPrivateKey,
  signStatement,
} from "../../../../platform/crypto/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { payloadType } from "../domain/statement.ts";
import type { Signed } from "./envelope.ts";
import { bindingOf, keyStore, type SealedKey, type SigningKey } from "./key-store.ts";

/** Signs statements with the key of the instance. */
export type Signer = ReturnType<typeof createSigner>;

type Dependencies = Pick<PlatformServices, "keyring" | "platformTenantId">;

/** Creates the signer of this node. */
export function createSigner({ keyring, platformTenantId }: Dependencies) {
  /** The active private key of this node, opened once. */
  let opened: { readonly id: string; readonly privateKey: KeyObject } | undefined;

  function requireKeyring(): Keyring {
    if (keyring !== undefined) return keyring;
    throw fail("FAILED_PRECONDITION", {
      public:
        "Signed evidence requires a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
    });
  }

  /** Adds a key, unless another call has; returns the active one. */
  async function addKey(sql: Sql, nowMs: number): Promise<SealedKey> {
    const keys = requireKeyring();
    const tenantId = platformTenantId();
    const { privateKeyPem, key } = createStatementKey();
    const ciphertext = keys.seal(privateKeyPem, bindingOf({ tenantId, id: key.id }));
    const sealed = { ...key, ciphertext, createdAt: new Date(nowMs), retiredAt: null };
    await keyStore(sql).insert(tenantId, sealed, keys.activeKeyId);
    return (await keyStore(sql).findActive(tenantId))!;
  }

  function open({ id, ciphertext }: SealedKey): KeyObject {
    if (opened?.id === id) return opened.privateKey;
    const pem = requireKeyring().open(ciphertext, bindingOf({ tenantId: platformTenantId(), id }));
    opened = { id, privateKey: readPrivateKey(pem).privateKey };
    return opened.privateKey;
  }

  return {
    /** Signs a statement with the active key. The first statement of an instance creates the key. */
    async sign(sql: Sql, statement: JsonObject, nowMs: number): Promise<Signed> {
      const active = (await keyStore(sql).findActive(platformTenantId())) ?? (await addKey(sql, nowMs));
      return {
        statement: canonicalJson(statement),
        digest: digestOfStatement(statement),
        keyId: active.id,
        signature: signStatement(payloadType, statement, open(active)),
      };
    },

    /** Replaces the active key. The retired key still verifies what it signed. */
    async rotate(sql: Sql, nowMs: number): Promise<{ readonly key: SigningKey; readonly retiredKeyId: string }> {
      requireKeyring();
      const retiredKeyId = await keyStore(sql).retireActive(platformTenantId(), new Date(nowMs));
      const { ciphertext: _, ...key } = await addKey(sql, nowMs);
      return { key, retiredKeyId: retiredKeyId ?? "" };
    },
  };
}
