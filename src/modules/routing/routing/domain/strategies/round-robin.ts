import { AT_CAPACITY } from "../facts/survey-record.ts";
import { type Attempt, areFew, type Choice, survey, surveyed } from "./attempt.ts";

/** How many are asked one after the other before everyone is looked at. */
const turnsAsked = 16;

/** round_robin: whose turn it is, by weight; who cannot take it is passed over and keeps at most one turn. */
export function roundRobin(attempt: Attempt): Choice {
  const choice = nextInTurn(attempt) ?? surveyed(survey(attempt, { measure: "turn", score: (_i, _s, rank) => rank }));
  if (choice.index >= 0) attempt.facts.offered(choice.index);
  return choice;
}

function nextInTurn(attempt: Attempt): Choice | undefined {
  const { facts, filter } = attempt;
  if (areFew(attempt)) return undefined;
  for (let nth = 0; nth < turnsAsked; nth++) {
    const index = facts.turn(nth);
    if (index < 0) return undefined;
    if (!filter.admits(index) || facts.standing(index) >= AT_CAPACITY) continue;
    if (filter.rank(index) === 0) return { index, how: `turn ${nth + 1}` };
  }
  return undefined;
}
