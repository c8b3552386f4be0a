import type { FieldRules, StringRules } from "../../../gen/buf/validate/validate_pb.ts";
import { Problems } from "../protojson/index.ts";
import { nearestName, plainName, respellDuration, snakeCase } from "../text/index.ts";
import { scalarChecks } from "../validation/index.ts";
import { type Change, type Mistake, toValue } from "./mistake.ts";
import { rulesAt } from "./place.ts";

/** Corrections of texts that break a rule. */

const textCharactersMax = 300;

/** Spaces around a text. */
export function trimText(mistake: Mistake): Change | undefined {
  return accepted(mistake, "certain", (text) => [text.trim()]);
}

/** One of the allowed texts, in another spelling or mistyped. */
export function correctChoice(mistake: Mistake): Change | undefined {
  const choices = stringRules(mistake)?.in.filter((each) => each !== "") ?? [];
  const { value } = mistake.place;
  if (typeof value !== "string" || value.length > textCharactersMax || choices.length === 0) return undefined;
  const same = choices.filter((each) => plainName(each) === plainName(value) && plainName(value) !== "");
  if (same.length === 1) return toValue(mistake, same[0], "certain");
  const near = nearestName(value.trim().toLowerCase(), choices);
  return near === undefined ? undefined : toValue(mistake, near, "likely");
}

/** A text in another letter case, or with other separators between its words. */
export function respellText(mistake: Mistake): Change | undefined {
  return accepted(mistake, "likely", (text) => {
    const trimmed = text.trim();
    const words = snakeCase(trimmed)
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== "");
    const spelled = ["-", "_", "."].map((separator) => words.join(separator));
    return [trimmed.toLowerCase(), trimmed.toUpperCase(), ...(words.length === 0 ? [] : spelled)];
  });
}

/** A time span without a unit, which is in seconds, or with a unit that is written out. */
export function addUnit(mistake: Mistake): Change | undefined {
  return accepted(mistake, "likely", (text) => [respellDuration(text) ?? text]);
}

/** A URL without its scheme. */
export function addScheme(mistake: Mistake): Change | undefined {
  return accepted(mistake, "likely", (text) =>
    /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[:/]|$)/i.test(text.trim()) ? [`https://${text.trim()}`] : [],
  );
}

/** The first candidate that all rules of the text accept. */
function accepted(
  mistake: Mistake,
  confidence: Change["confidence"],
  candidatesFor: (text: string) => readonly string[],
): Change | undefined {
  const { value } = mistake.place;
  const rules = rulesAt(mistake.place);
  if (typeof value !== "string" || value.length > textCharactersMax || rules?.type.case !== "string") return undefined;
  const found = candidatesFor(value).find((each) => each !== value && fits(each, rules));
  return found === undefined ? undefined : toValue(mistake, found, confidence);
}

function fits(text: string, rules: FieldRules): boolean {
  const problems = new Problems();
  for (const check of scalarChecks(rules, "string", undefined)) check(text, problems);
  return problems.count === 0;
}

function stringRules({ place }: Mistake): StringRules | undefined {
  const type = rulesAt(place)?.type;
  return type?.case === "string" ? type.value : undefined;
}
