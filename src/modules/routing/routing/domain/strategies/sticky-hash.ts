import { hashText, mix32, unitOf } from "../structures/chance.ts";
import { type Attempt, arrivalOf, type Choice, standingShare, survey, surveyed } from "./attempt.ts";

/**
 * sticky_hash: weighted rendezvous. Key and recipient together give each recipient its own arrival in a race, so that a key
 * moves only when its recipient goes, or when another one arrives before it: adding one takes its share from all others, and
 * removing one hands out only its own. Slow start is left aside, since keys would move twice.
 */
export function stickyHash(attempt: Attempt): Choice {
  const { hashes, weights } = attempt.pool;
  const [low, high] = hashText(attempt.stickyKey());
  return surveyed(
    survey(attempt, {
      measure: "nothing",
      score: (index, standing, _, best) => {
        const first = mix32(low ^ hashes[2 * index]!);
        const unit = unitOf(mix32(first ^ high ^ hashes[2 * index + 1]!), first);
        return arrivalOf(unit, weights[index]! * standingShare(standing), best);
      },
    }),
  );
}
