import { AT_CAPACITY } from "../facts/observation.ts";
import { type Attempt, type Choice, isSelective, rankCandidates, toChoice } from "./attempt.ts";

/** Number of recipients tried in turn before all are ranked. */
const turnsMax = 16;

/** round_robin: in turn, by weight. A recipient that is unavailable is skipped and keeps at most one turn. */
export function roundRobin(attempt: Attempt): Choice {
  const choice =
    chooseNextInTurn(attempt) ?? toChoice(rankCandidates(attempt, { metric: "turn", score: (_i, _s, rank) => rank }));
  if (choice.index >= 0) attempt.facts.recordOffer(choice.index);
  return choice;
}

function chooseNextInTurn(attempt: Attempt): Choice | undefined {
  const { facts, filter } = attempt;
  if (isSelective(attempt)) return undefined;
  for (let nth = 0; nth < turnsMax; nth++) {
    const index = facts.nthInTurn(nth);
    if (index < 0) return undefined;
    if (!filter.admits(index) || facts.availability(index) >= AT_CAPACITY) continue;
    if (filter.rank(index) === 0) return { index, how: `turn ${nth + 1}` };
  }
  return undefined;
}
