import { RE2Set } from "re2js";
import { CelError } from "../cel-error.ts";
import { LIMITS } from "../limits.ts";
import { charge, type Frame } from "../plan/frame.ts";
import { patternCost } from "./pattern-cost.ts";

// Memory for the states that a pattern caches between matches. Further states are computed again.
const STATE_BYTES = 32_768;

/** An RE2 regular expression, matched in linear time and bounded memory. */
export interface Pattern {
  readonly instructions: number;
  test(frame: Frame, text: string): boolean;
}

/** Compiles a pattern; returns undefined for an invalid regular expression. */
export function compilePattern(source: string): Pattern | undefined {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, STATE_BYTES);
  try {
    set.add(source);
    set.compile();
  } catch {
    return undefined;
  }
  const instructions = set.prog.numInst();
  return {
    instructions,
    test(frame, text) {
      if (text.length > LIMITS.matchedLength)
        throw new CelError("budget", `A text of more than ${LIMITS.matchedLength} characters cannot be matched.`);
      charge(frame, 1 + text.length * instructions);
      return set.match(text).length > 0;
    },
  };
}

/** Compiles a pattern that is known only at run time, and charges its cost. */
export function compileDynamicPattern(frame: Frame, source: string): Pattern | undefined {
  if (source.length > LIMITS.patternLength) throw patternTooCostly();
  const cost = patternCost(source);
  if (cost.instructions > LIMITS.patternInstructions || cost.wideClasses > LIMITS.patternWideClasses)
    throw patternTooCostly();
  charge(frame, 2_000 + cost.instructions * 200 + cost.wideClasses * 8_000);
  return compilePattern(source);
}

function patternTooCostly(): CelError {
  return new CelError("budget", "The regular expression is too long or repeats too much.");
}
