import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { createKeyedDigest } from "../../../platform/crypto/index.ts";
import type { CheckPriority } from "./check-queue.ts";

/** Caches the results of secret checks for a minute, by keyed digest. */
export type VerificationCache = ReturnType<typeof createVerificationCache>;

const retentionMs = 60_000;
const entriesMax = 10_000;

export function createVerificationCache(clock: Clock) {
  const digest = createKeyedDigest();
  // A hash has one correct secret. Its digest stays after it expires, and then only raises the priority of the next check.
  const right = new BoundedCache<string, { readonly digest: string; readonly untilMs: number }>(entriesMax);
  const wrong = new BoundedCache<string, number>(entriesMax);
  const suspectHashes = new BoundedCache<string, number>(entriesMax);
  const suspectAddresses = new BoundedCache<string, number>(entriesMax);
  const isCurrent = (untilMs: number | undefined) => untilMs !== undefined && untilMs > clock.now();

  return {
    /** The digest of a secret presented for the key with this hash. */
    digest: (hash: string, secret: string): string => digest(hash + secret),
    /** Whether a secret was correct within the last minute; undefined if it must be checked. */
    lookUp(hash: string, digested: string): boolean | undefined {
      const accepted = right.get(hash);
      if (accepted?.digest === digested) return accepted.untilMs > clock.now() ? true : undefined;
      return isCurrent(wrong.get(digested)) ? false : undefined;
    },
    /** The priority of checking a secret, derived from earlier results. */
    priority(hash: string, digested: string, address: string): CheckPriority {
      if (right.get(hash)?.digest === digested) return "known";
      if (isCurrent(suspectHashes.get(hash))) return "suspect";
      return isCurrent(suspectAddresses.get(address)) ? "doubtful" : "clean";
    },
    /** Stores the result of a check. */
    record(hash: string, digested: string, address: string, isRight: boolean) {
      const untilMs = clock.now() + retentionMs;
      if (isRight) {
        right.set(hash, { digest: digested, untilMs });
      } else {
        wrong.set(digested, untilMs);
        suspectHashes.set(hash, untilMs);
        suspectAddresses.set(address, untilMs);
      }
    },
  };
}
