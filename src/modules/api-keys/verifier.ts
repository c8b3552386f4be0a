import bcrypt from "bcrypt";
import { keyFormat } from "../../config/index.ts";
import { grantedScopes, type Principal } from "../../platform/access/index.ts";
import type { Clock } from "../../platform/clock/clock.ts";
import { createKeyedDigest } from "../../platform/crypto/index.ts";
import { createTenantCache, type Sql, type TenantChanges } from "../../platform/db/index.ts";
import type { Log } from "../../platform/log/log.ts";
import { type StoredApiKey, statusOf } from "./domain/api-key.ts";
import { apiKeyStore } from "./store.ts";

/** Tells whose a presented key is. */
export interface ApiKeyVerifier {
  /** The key, or undefined for one that is unknown, wrong, revoked or expired. */
  verify(presented: string): VerifiedKey | undefined | Promise<VerifiedKey | undefined>;
  /** Writes down when keys were last used. */
  flushUses(): Promise<void>;
}

/** A key that was presented with its right secret. */
export interface VerifiedKey {
  readonly key: StoredApiKey;
  readonly principal: Principal;
}

/** A record as it was read, with the secrets that were checked against it. A change of the tenant drops it. */
interface Entry {
  readonly verified: VerifiedKey;
  /** Digests of secrets that bcrypt accepted or refused, until when. */
  readonly checked: Map<string, { right: boolean; untilMs: number }>;
  /** Checks under way: callers with the same secret share one. */
  readonly checking: Map<string, Promise<boolean>>;
}

const checkedForMs = 60_000;
const wrongSecretsMax = 20;

interface Parts {
  readonly sql: Sql;
  readonly changes: TenantChanges;
  readonly clock: Clock;
  readonly log: Log;
  /** Checks a secret against its hash, and takes its time. */
  readonly compare?: (secret: string, hash: string) => Promise<boolean>;
}

/**
 * Checks a secret with bcrypt once, and for a minute after that against a keyed digest in memory:
 * a key costs one bcrypt a minute, not one a call.
 */
export function createApiKeyVerifier({ sql, changes, clock, log, compare = bcrypt.compare }: Parts): ApiKeyVerifier {
  const digest = createKeyedDigest();
  const uses = new Map<string, { key: StoredApiKey; atMs: number }>();
  const entries = createTenantCache<string, Entry | undefined>({
    changes,
    load: async (prefix) => {
      const key = await apiKeyStore(sql).findByPrefix(prefix);
      return key && { verified: { key, principal: principalOf(key) }, checked: new Map(), checking: new Map() };
    },
    tenantOf: (_prefix, entry) => entry?.verified.key.tenantId,
  });

  function check({ verified, checked, checking }: Entry, secret: string, digested: string): Promise<boolean> {
    const underWay = checking.get(digested);
    if (underWay !== undefined) return underWay;
    const started = compare(secret, verified.key.secretHash)
      .then((right) => {
        // Someone who guesses must not fill the memory, nor push out the right secret.
        if (checked.size > wrongSecretsMax) for (const [each, { right: kept }] of checked) kept || checked.delete(each);
        checked.set(digested, { right, untilMs: clock.now() + checkedForMs });
        return right;
      })
      .finally(() => checking.delete(digested));
    checking.set(digested, started);
    return started;
  }

  function use({ verified }: Entry): VerifiedKey | undefined {
    const nowMs = clock.now();
    if (statusOf(verified.key, nowMs) !== "active") return undefined;
    const before = uses.get(verified.key.id);
    if (before === undefined || nowMs - before.atMs > checkedForMs)
      uses.set(verified.key.id, { key: verified.key, atMs: nowMs });
    return verified;
  }

  function against(
    entry: Entry | undefined,
    secret: string,
  ): VerifiedKey | undefined | Promise<VerifiedKey | undefined> {
    if (entry === undefined) return undefined;
    const digested = digest(secret);
    const known = entry.checked.get(digested);
    if (known !== undefined && known.untilMs > clock.now()) return known.right ? use(entry) : undefined;
    return check(entry, secret, digested).then((right) => (right ? use(entry) : undefined));
  }

  return {
    verify(presented) {
      const [, prefix, secret] = keyFormat.exec(presented) ?? [];
      if (prefix === undefined || secret === undefined) return undefined;
      const entry = entries.get(prefix);
      return entry instanceof Promise ? entry.then((read) => against(read, secret)) : against(entry, secret);
    },
    async flushUses() {
      if (uses.size === 0) return;
      const noted = [...uses.values()].map(({ key, atMs }) => ({
        tenantId: key.tenantId,
        id: key.id,
        at: new Date(atMs),
      }));
      uses.clear();
      await apiKeyStore(sql)
        .touch(noted)
        .catch((error) => log.warn({ err: error }, "last use of keys not noted"));
    },
  };
}

function principalOf(key: StoredApiKey): Principal {
  return {
    tenantId: key.tenantId,
    subject: `key:${key.id}`,
    kind: "api_key",
    roles: key.roles,
    scopes: grantedScopes(key.roles, key.scopes),
    environmentMode: key.environmentMode,
  };
}
