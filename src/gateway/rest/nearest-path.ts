import { isGuardedOperation } from "../../chain/corrections.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { nearestName, plainName } from "../../platform/text/index.ts";
import { parseTemplate, type Template } from "./template.ts";

interface Candidate extends Template {
  readonly httpVerb: string;
  readonly operation: Operation;
}

/** How far a path is from a template, and the path that the template has instead. */
interface Fit {
  readonly path: string;
  readonly mistakes: number;
  readonly literals: number;
  readonly operation: Operation;
}

const pathCharactersMax = 300;
const mistakesMax = 2;

/**
 * Creates the function that finds the path that somebody meant who sent one without an operation: a mistyped segment, or a
 * missing or wrong prefix. It returns undefined if several paths are equally near.
 */
export function createNearestPath(operations: readonly Operation[]) {
  let byLength: Map<number, Candidate[]> | undefined;
  return (httpVerb: string, path: string): string | undefined => {
    if (path.length > pathCharactersMax) return undefined;
    byLength ??= Map.groupBy(operations.flatMap(candidatesOf), ({ segments }) => segments.length);
    const fits = variantsOf(path).flatMap((parts) =>
      (byLength!.get(parts.length) ?? [])
        .filter((each) => each.httpVerb === httpVerb)
        .flatMap((each) => fitOf(each, parts) ?? []),
    );
    fits.sort((a, b) => a.mistakes - b.mistakes || b.literals - a.literals);
    const [best, next] = fits;
    if (best === undefined || isGuardedOperation(best.operation)) return undefined;
    const isAlone = next === undefined || next.mistakes > best.mistakes || next.literals < best.literals;
    return isAlone || next.path === best.path ? best.path : undefined;
  };
}

function candidatesOf(operation: Operation): Candidate[] {
  return operation.bindings.map(({ verb, path }: HttpBinding) => ({
    ...parseTemplate(path),
    httpVerb: verb,
    operation,
  }));
}

/** The segments of a path, without empty ones, also with and without the prefixes of the API. */
function variantsOf(path: string): string[][] {
  const parts = path.split("/").filter((part) => part !== "");
  const [first, second = ""] = parts;
  if (first !== "api") return [parts, ["api", ...parts], ["api", "v2", ...parts]];
  const rest = parts.slice(/^v\d$/.test(second) ? 2 : 1);
  return [parts, ["api", ...rest], ["api", "v2", ...rest]];
}

function fitOf({ segments, verb, operation }: Candidate, parts: readonly string[]): Fit | undefined {
  let mistakes = 0;
  let literals = 0;
  const literalAt = (wanted: string, part: string): boolean => {
    if (wanted !== part) mistakes += isNear(part, wanted) ? 1 : mistakesMax + 1;
    // The prefix says nothing about what is meant.
    if (wanted !== "api" && wanted !== "v2") literals++;
    return mistakes <= mistakesMax;
  };
  const last = parts.at(-1)!;
  const colon = verb === "" ? -1 : last.lastIndexOf(":");
  if (verb !== "" && (colon < 1 || !literalAt(verb, last.slice(colon + 1)))) return undefined;
  const texts = colon < 0 ? parts : [...parts.slice(0, -1), last.slice(0, colon)];
  for (const [at, segment] of segments.entries()) {
    if ("literal" in segment && !literalAt(segment.literal, texts[at]!)) return undefined;
  }
  if (literals === 0) return undefined;
  const path = segments.map((segment, at) => ("literal" in segment ? segment.literal : texts[at]));
  return { path: `/${path.join("/")}${verb === "" ? "" : `:${verb}`}`, mistakes, literals, operation };
}

function isNear(typed: string, wanted: string): boolean {
  // A short word is near to too many others.
  return plainName(typed) === plainName(wanted) || (wanted.length > 3 && nearestName(typed, [wanted]) !== undefined);
}
