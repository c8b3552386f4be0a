import { hashText, mix32, unitOf } from "../structures/seeded-random.ts";
import { type Attempt, arrivalTimeOf, availabilityFactor, type Choice, rankCandidates, toChoice } from "./attempt.ts";

/**
 * sticky_hash: weighted rendezvous hashing. Key and recipient determine the arrival of each recipient in a race, so
 * a key moves only if its recipient is removed or another one arrives earlier: adding a recipient takes its share
 * from all others, and removing one redistributes only its own keys. Slow start is ignored because keys would move
 * twice.
 */
export function stickyHash(attempt: Attempt): Choice {
  const { hashes, weights } = attempt.pool;
  const [low, high] = hashText(attempt.stickyKey());
  return toChoice(
    rankCandidates(attempt, {
      metric: "nothing",
      score: (index, availability, _, best) => {
        const first = mix32(low ^ hashes[2 * index]!);
        const unit = unitOf(mix32(first ^ high ^ hashes[2 * index + 1]!), first);
        return arrivalTimeOf(unit, weights[index]! * availabilityFactor(availability), best);
      },
    }),
  );
}
