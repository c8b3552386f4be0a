import { availableParallelism } from "node:os";
import bcrypt from "bcrypt";
import { keyFormat } from "../../../config/index.ts";
import { fail } from "../../../errors/index.ts";
import { grantedScopes, type Principal } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { createTenantCache, type Sql, type TenantChanges } from "../../../platform/db/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { createCheckQueue } from "./check-queue.ts";
import { type StoredApiKey, statusOf } from "./domain/api-key.ts";
import { createSecretMemory } from "./secret-memory.ts";
import { apiKeyStore } from "./store.ts";

/** Tells whose a presented key is. */
export interface ApiKeyVerifier {
  /**
   * The key, or undefined for one that is unknown, wrong, revoked or expired. `address` is where it comes from; the signal
   * aborts when the caller leaves, and is asked for only when the secret must be checked.
   */
  verify(
    presented: string,
    address?: string,
    signalOf?: () => AbortSignal,
  ): VerifiedKey | undefined | Promise<VerifiedKey | undefined>;
  /** Writes down when keys were last used. */
  flushUses(): Promise<void>;
}

/** A key that was presented with its right secret. */
export interface VerifiedKey {
  readonly key: StoredApiKey;
  readonly principal: Principal;
}

// A check keeps a processor busy for a while. With one left for the calls, wrong secrets slow nobody down.
const checksRunningMax = Math.max(2, availableParallelism() - 1);
const suspectChecksRunningMax = 1;
const checksWaitingMax = 4;
const checksOfKeyWaitingMax = 64;
const checksInAllWaitingMax = 1024;
const usesNotedEveryMs = 60_000;

/** A check that callers with the same secret wait for together. */
interface SharedCheck {
  /** Whether the secret is right. A check that has not started is dropped when the last of its callers leaves. */
  join(signal: AbortSignal | undefined): Promise<boolean>;
}

interface Parts {
  readonly sql: Sql;
  readonly changes: TenantChanges;
  readonly clock: Clock;
  readonly log: Log;
  /** Checks a secret against its hash, and takes its time. */
  readonly compare?: (secret: string, hash: string) => Promise<boolean>;
}

/**
 * Checks a secret with bcrypt once, and for a minute after that against a keyed digest in memory: a key costs one bcrypt a
 * minute, not one a call, and so does a wrong secret. Checks wait for their turn by tenant, key and address.
 */
export function createApiKeyVerifier({ sql, changes, clock, log, compare = bcrypt.compare }: Parts): ApiKeyVerifier {
  const memory = createSecretMemory(clock);
  const queue = createCheckQueue({
    runningMax: checksRunningMax,
    suspectsRunningMax: suspectChecksRunningMax,
    waitingMax: checksWaitingMax,
    waitingOfKeyMax: checksOfKeyWaitingMax,
    waitingInAllMax: checksInAllWaitingMax,
  });
  /** Checks under way by digest: callers with the same secret share one. */
  const checking = new Map<string, SharedCheck>();
  const uses = new Map<string, { key: StoredApiKey; atMs: number }>();
  const keys = createTenantCache<string, VerifiedKey | undefined>({
    changes,
    load: async (prefix) => {
      const key = await apiKeyStore(sql).findByPrefix(prefix);
      return key && { key, principal: principalOf(key) };
    },
    tenantOf: (_prefix, verified) => verified?.key.tenantId,
  });

  function startCheck(key: StoredApiKey, secret: string, digest: string, address: string): SharedCheck {
    const { tenantId, id: keyId, secretHash } = key;
    const standing = () => memory.standing(secretHash, digest, address);
    const abandoned = new AbortController();
    let callers = 0;
    let hasStarted = false;
    const right = queue.run({ tenantId, keyId, address, standing, signal: abandoned.signal }, async () => {
      hasStarted = true;
      const isRight = await compare(secret, secretHash);
      // Remembered before the next check is chosen, which may depend on it.
      memory.remember(secretHash, digest, address, isRight);
      return isRight;
    });
    const forget = () => {
      if (checking.get(digest) === shared) checking.delete(digest);
    };
    const leave = () => {
      if (--callers > 0 || hasStarted) return;
      // A caller that comes now needs a check of its own.
      forget();
      abandoned.abort(fail("CANCELED", { public: "Nobody waits for the check any more." }));
    };
    const shared: SharedCheck = {
      join(signal) {
        callers++;
        if (signal?.aborted) leave();
        else signal?.addEventListener("abort", leave, { once: true });
        return right.finally(() => {
          forget();
          signal?.removeEventListener("abort", leave);
        });
      },
    };
    checking.set(digest, shared);
    return shared;
  }

  function use(verified: VerifiedKey): VerifiedKey | undefined {
    const { key } = verified;
    const nowMs = clock.now();
    if (statusOf(key, nowMs) !== "active") return undefined;
    const before = uses.get(key.id);
    if (before === undefined || nowMs - before.atMs > usesNotedEveryMs) uses.set(key.id, { key, atMs: nowMs });
    return verified;
  }

  function against(
    found: VerifiedKey | undefined,
    secret: string,
    address: string,
    signalOf: (() => AbortSignal) | undefined,
  ): VerifiedKey | undefined | Promise<VerifiedKey | undefined> {
    if (found === undefined) return undefined;
    const { key } = found;
    const digest = memory.digest(key.secretHash, secret);
    const known = memory.recall(key.secretHash, digest);
    if (known !== undefined) return known ? use(found) : undefined;
    const check = checking.get(digest) ?? startCheck(key, secret, digest, address);
    return check.join(signalOf?.()).then((right) => (right ? use(found) : undefined));
  }

  return {
    verify(presented, address = "", signalOf = undefined) {
      const [, prefix, secret] = keyFormat.exec(presented) ?? [];
      if (prefix === undefined || secret === undefined) return undefined;
      const found = keys.get(prefix);
      return found instanceof Promise
        ? found.then((read) => against(read, secret, address, signalOf))
        : against(found, secret, address, signalOf);
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
