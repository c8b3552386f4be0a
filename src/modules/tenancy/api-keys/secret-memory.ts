import type { Clock } from "../../../platform/clock/clock.ts";
import { createKeyedDigest } from "../../../platform/crypto/index.ts";
import type { Standing } from "./check-queue.ts";

/** Remembers how secrets were checked, as keyed digests and for a minute. */
export interface SecretMemory {
  /** The digest of a secret that is presented for a hash. */
  digest(hash: string, secret: string): string;
  /** Whether a secret was found right or wrong within the last minute; undefined for one that must be checked. */
  recall(hash: string, digest: string): boolean | undefined;
  /** How much a check of a secret is to be trusted with before its result is known. */
  standing(hash: string, digest: string, address: string): Standing;
  /** Remembers the result of a check. */
  remember(hash: string, digest: string, address: string, right: boolean): void;
}

const rememberedMs = 60_000;
const entriesMax = 10_000;

/** Makes an empty memory. */
export function createSecretMemory(clock: Clock): SecretMemory {
  const digest = createKeyedDigest();
  // A hash has one right secret. Its digest stays after its minute: only how soon it is checked again depends on it.
  const right = new Map<string, { readonly digest: string; readonly untilMs: number }>();
  const wrong = new Map<string, number>();
  const suspectHashes = new Map<string, number>();
  const suspectAddresses = new Map<string, number>();
  const isCurrent = (untilMs: number | undefined) => untilMs !== undefined && untilMs > clock.now();

  return {
    digest: (hash, secret) => digest(hash + secret),
    recall(hash, digested) {
      const accepted = right.get(hash);
      if (accepted?.digest === digested) return accepted.untilMs > clock.now() ? true : undefined;
      return isCurrent(wrong.get(digested)) ? false : undefined;
    },
    standing(hash, digested, address) {
      if (right.get(hash)?.digest === digested) return "known";
      if (isCurrent(suspectHashes.get(hash))) return "suspect";
      return isCurrent(suspectAddresses.get(address)) ? "doubtful" : "clean";
    },
    remember(hash, digested, address, isRight) {
      const untilMs = clock.now() + rememberedMs;
      if (isRight) {
        put(right, hash, { digest: digested, untilMs });
      } else {
        put(wrong, digested, untilMs);
        put(suspectHashes, hash, untilMs);
        put(suspectAddresses, address, untilMs);
      }
    },
  };
}

/** Sets an entry as the newest; the oldest goes when there are too many. */
function put<T>(entries: Map<string, T>, key: string, value: T): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > entriesMax) entries.delete(entries.keys().next().value!);
}
