import bcrypt from "bcrypt";
import { keyFormat } from "../../config/index.ts";
import { fail } from "../../errors/index.ts";
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

/** The secrets that were checked against one hash. They outlive the record, which every change of its tenant drops. */
interface Checks {
  /** Digests of secrets that bcrypt accepted or refused, until when. */
  readonly checked: Map<string, { right: boolean; untilMs: number }>;
  /** Checks under way: callers with the same secret share one. */
  readonly checking: Map<string, Promise<boolean>>;
}

const checkedForMs = 60_000;
const wrongSecretsMax = 20;
// Each check takes a thread for a while, so that someone who guesses must not be able to queue many.
const checksOfKeyMax = 4;
const checksMax = 16;
const hashesMax = 10_000;

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
  let checks = 0;
  const uses = new Map<string, { key: StoredApiKey; atMs: number }>();
  const checksByHash = new Map<string, Checks>();
  const keys = createTenantCache<string, VerifiedKey | undefined>({
    changes,
    load: async (prefix) => {
      const key = await apiKeyStore(sql).findByPrefix(prefix);
      return key && { key, principal: principalOf(key) };
    },
    tenantOf: (_prefix, verified) => verified?.key.tenantId,
  });

  function checksOf({ secretHash }: StoredApiKey): Checks {
    const known = checksByHash.get(secretHash);
    if (known !== undefined) return known;
    if (checksByHash.size >= hashesMax) checksByHash.clear();
    const checks: Checks = { checked: new Map(), checking: new Map() };
    checksByHash.set(secretHash, checks);
    return checks;
  }

  function check(key: StoredApiKey, { checked, checking }: Checks, secret: string, digested: string): Promise<boolean> {
    const underWay = checking.get(digested);
    if (underWay !== undefined) return underWay;
    if (checking.size >= checksOfKeyMax || checks >= checksMax) {
      throw fail("UNAVAILABLE", { public: "Too many keys are being checked.", headers: { "retry-after": "1" } });
    }
    checks++;
    const started = compare(secret, key.secretHash)
      .then((right) => {
        // Someone who guesses must not fill the memory, nor push out the right secret.
        if (checked.size > wrongSecretsMax) for (const [each, { right: kept }] of checked) kept || checked.delete(each);
        checked.set(digested, { right, untilMs: clock.now() + checkedForMs });
        return right;
      })
      .finally(() => {
        checks--;
        checking.delete(digested);
      });
    checking.set(digested, started);
    return started;
  }

  function use(verified: VerifiedKey): VerifiedKey | undefined {
    const { key } = verified;
    const nowMs = clock.now();
    if (statusOf(key, nowMs) !== "active") return undefined;
    const before = uses.get(key.id);
    if (before === undefined || nowMs - before.atMs > checkedForMs) uses.set(key.id, { key, atMs: nowMs });
    return verified;
  }

  function against(
    found: VerifiedKey | undefined,
    secret: string,
  ): VerifiedKey | undefined | Promise<VerifiedKey | undefined> {
    if (found === undefined) return undefined;
    const digested = digest(secret);
    const checks = checksOf(found.key);
    const known = checks.checked.get(digested);
    if (known !== undefined && known.untilMs > clock.now()) return known.right ? use(found) : undefined;
    return check(found.key, checks, secret, digested).then((right) => (right ? use(found) : undefined));
  }

  return {
    verify(presented) {
      const [, prefix, secret] = keyFormat.exec(presented) ?? [];
      if (prefix === undefined || secret === undefined) return undefined;
      const found = keys.get(prefix);
      return found instanceof Promise ? found.then((read) => against(read, secret)) : against(found, secret);
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
    expiresAt: key.expiresAt ?? undefined,
  };
}
