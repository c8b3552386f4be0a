import { availableParallelism } from "node:os";
import bcrypt from "bcrypt";
import { keyFormat } from "../../../config/index.ts";
import { fail } from "../../../errors/index.ts";
import type { Principal } from "../../../platform/access/index.ts";
import { createTenantCache, type Sql } from "../../../platform/db/index.ts";
import { shareOf } from "../../../platform/process-share/process-share.ts";
import type { PlatformServices } from "../../area.ts";
import { createCheckQueue } from "./check-queue.ts";
import { principalOf, type StoredApiKey, statusOf } from "./domain/api-key.ts";
import type { OwnerFinder } from "./service.ts";
import { apiKeyStore } from "./store.ts";
import { createVerificationCache } from "./verification-cache.ts";

/** Verifies presented API keys. */
export type ApiKeyVerifier = ReturnType<typeof createApiKeyVerifier>;

/** A key that was presented with its correct secret. */
export interface VerifiedKey {
  readonly key: StoredApiKey;
  readonly principal: Principal;
}

/** A stored key with its access; the access is undefined if the owner has none any more. */
interface LoadedKey {
  readonly key: StoredApiKey;
  readonly principal: Principal | undefined;
}

// A bcrypt check occupies a CPU core of the machine. One core stays free for calls, so that wrong secrets do not slow down other callers.
const checksRunningMax = Math.max(2, availableParallelism() - 1);
const suspectChecksRunningMax = 1;
const checksWaitingPerAddressMax = 4;
const checksWaitingPerKeyMax = 64;
const checksWaitingTotalMax = 1024;
const useRecordedEveryMs = 60_000;

/** A check shared by all callers that present the same secret. */
interface SharedCheck {
  /** Resolves to whether the secret is correct. A waiting check is dropped when its last caller disconnects. */
  join(signal: AbortSignal | undefined): Promise<boolean>;
}

interface Dependencies extends Pick<PlatformServices, "changes" | "clock" | "log"> {
  readonly sql: Sql;
  readonly findOwner: OwnerFinder;
  /** Compares a secret with a hash. Expensive. */
  readonly compare?: (secret: string, hash: string) => Promise<boolean>;
}

/**
 * Creates a verifier that checks a secret with bcrypt, then caches the result for a minute by keyed digest. A key costs one
 * bcrypt check per minute instead of one per call, and so does a wrong secret. A fair queue schedules the checks.
 */
export function createApiKeyVerifier(dependencies: Dependencies) {
  const { sql, changes, findOwner, clock, log, compare = bcrypt.compare } = dependencies;
  const cache = createVerificationCache(clock);
  const queue = createCheckQueue({
    runningMax: shareOf(checksRunningMax),
    suspectsRunningMax: suspectChecksRunningMax,
    waitingPerAddressMax: checksWaitingPerAddressMax,
    waitingPerKeyMax: checksWaitingPerKeyMax,
    waitingTotalMax: checksWaitingTotalMax,
  });
  /** Pending checks by digest: callers with the same secret share one. */
  const checking = new Map<string, SharedCheck>();
  const uses = new Map<string, { key: StoredApiKey; atMs: number }>();
  const keys = createTenantCache<string, LoadedKey | undefined>({
    changes,
    load: async (prefix) => {
      const key = await apiKeyStore(sql).findByPrefix(prefix);
      return key && { key, principal: principalOf(key, await findOwner(sql, key.tenantId, key.owner)) };
    },
    tenantOf: (_prefix, loaded) => loaded?.key.tenantId,
  });

  function startCheck(key: StoredApiKey, secret: string, digest: string, address: string): SharedCheck {
    const { tenantId, id: keyId, secretHash } = key;
    const priority = () => cache.priority(secretHash, digest, address);
    const abandoned = new AbortController();
    let callers = 0;
    let hasStarted = false;
    const right = queue.run({ tenantId, keyId, address, priority, signal: abandoned.signal }, async () => {
      hasStarted = true;
      const isRight = await compare(secret, secretHash);
      // Recorded before the queue chooses the next check, because its priority can depend on the result.
      cache.record(secretHash, digest, address, isRight);
      return isRight;
    });
    const removeShared = () => {
      if (checking.get(digest) === shared) checking.delete(digest);
    };
    const leave = () => {
      if (--callers > 0 || hasStarted) return;
      // Later callers start a new check.
      removeShared();
      abandoned.abort(fail("CANCELED", { public: "Every caller disconnected before the check started." }));
    };
    const shared: SharedCheck = {
      join(signal) {
        callers++;
        if (signal?.aborted) leave();
        else signal?.addEventListener("abort", leave, { once: true });
        return right.finally(() => {
          removeShared();
          signal?.removeEventListener("abort", leave);
        });
      },
    };
    checking.set(digest, shared);
    return shared;
  }

  function accept(loaded: LoadedKey): VerifiedKey | undefined {
    const { key, principal } = loaded;
    const nowMs = clock.now();
    if (principal === undefined || statusOf(key, nowMs) !== "active") return undefined;
    if (principal.expiresAt !== undefined && principal.expiresAt.getTime() <= nowMs) return undefined;
    const before = uses.get(key.id);
    if (before === undefined || nowMs - before.atMs > useRecordedEveryMs) uses.set(key.id, { key, atMs: nowMs });
    return loaded as VerifiedKey;
  }

  function checkSecret(
    found: LoadedKey | undefined,
    secret: string,
    address: string,
    signalOf: (() => AbortSignal) | undefined,
  ): VerifiedKey | undefined | Promise<VerifiedKey | undefined> {
    if (found === undefined) return undefined;
    const { key } = found;
    const digest = cache.digest(key.secretHash, secret);
    const known = cache.lookUp(key.secretHash, digest);
    if (known !== undefined) return known ? accept(found) : undefined;
    const check = checking.get(digest) ?? startCheck(key, secret, digest, address);
    return check.join(signalOf?.()).then((right) => (right ? accept(found) : undefined));
  }

  return {
    /**
     * Returns the verified key; undefined for a key that is unknown, wrong, revoked or expired. `address` is the caller's IP
     * address. `signalOf` is called only when the secret must be checked; its signal aborts when the caller disconnects.
     */
    verify(
      presented: string,
      address = "",
      signalOf: (() => AbortSignal) | undefined = undefined,
    ): VerifiedKey | undefined | Promise<VerifiedKey | undefined> {
      const [, prefix, secret] = keyFormat.exec(presented) ?? [];
      if (prefix === undefined || secret === undefined) return undefined;
      const found = keys.get(prefix);
      return found instanceof Promise
        ? found.then((read) => checkSecret(read, secret, address, signalOf))
        : checkSecret(found, secret, address, signalOf);
    },
    /** Writes the times of last use to the database. */
    async flushUses() {
      if (uses.size === 0) return;
      const recorded = [...uses.values()].map(({ key, atMs }) => ({
        tenantId: key.tenantId,
        id: key.id,
        at: new Date(atMs),
      }));
      uses.clear();
      await apiKeyStore(sql)
        .touch(recorded)
        .catch((error) => log.warn({ err: error }, "could not store the last use of API keys"));
    },
  };
}
