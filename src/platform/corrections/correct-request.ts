import type { DescMessage } from "@bufbuild/protobuf";
import type { Correction, FindRepair, Violation } from "../../errors/index.ts";
import { isGuardedField, isGuardedValue } from "./guard.ts";
import { patchInPlace } from "./json-patch.ts";
import { mistakeKinds } from "./kinds.ts";
import type { Change, Mistake } from "./mistake.ts";
import { findPlace, isSecret } from "./place.ts";

/** A refused request. */
export interface RefusedRequest {
  readonly desc: DescMessage;
  readonly json: unknown;
  readonly violations: readonly Violation[];
  readonly naming: Mistake["naming"];
  readonly isReading: boolean;
  readonly otherNames: readonly string[];
  readonly repairs?: ReadonlyMap<string, FindRepair> | undefined;
  /** Checks the request again, with corrections. */
  readonly check: (json: unknown) => readonly Violation[];
}

/** A correction, and the first field on the way to it. */
export type FoundCorrection = Omit<Correction, "in" | "patch"> &
  Required<Pick<Correction, "patch">> & { readonly root: string };

/** A larger request gets no corrections. */
export const correctedBytesMax = 64 * 1024;
const correctionsMax = 10;
const patchCharactersMax = 4096;
/** A correction can uncover further mistakes, because rules are checked after types. */
const roundsMax = 3;

/** Finds what would have been accepted. Only corrections after which their field breaks no rule are returned. */
export function correctRequest(request: RefusedRequest): readonly FoundCorrection[] {
  const { desc, check } = request;
  const found: (FoundCorrection & { readonly rule: string; readonly target: string })[] = [];
  const tried = new Set<string>();
  let { violations } = request;
  const document = structuredClone(request.json);
  for (let round = 0; round < roundsMax; round++) {
    const before = found.length;
    for (const violation of violations) {
      const key = keyOf(violation);
      if (tried.has(key) || found.length >= correctionsMax) continue;
      tried.add(key);
      const place = findPlace(desc, document, violation.field);
      // Another round also sees fields of the path or the query as missing.
      if (place === undefined || (round > 0 && place.value === undefined)) continue;
      if (isGuardedField(place.names) && !request.otherNames.includes(place.names[0]!)) continue;
      const correction = findCorrection({
        ...{ ...request, place, violation },
        repair: request.repairs?.get(violation.field),
      });
      if (correction === undefined || (!request.isReading && isGuardedValue(correction.value))) continue;
      // Secrets are not sent back.
      if (correction.value !== undefined && place.field !== undefined && isSecret(place.field)) continue;
      const { target, steps, ...rest } = correction;
      patchInPlace(document, steps);
      const { field, rule } = violation;
      found.push({ ...rest, field, rule, patch: steps, target: target ?? field, root: place.names[0]! });
    }
    if (found.length === before) break;
    violations = check(document);
  }
  const known = new Set(request.violations.map(keyOf));
  // What contains a corrected field breaks no rule that it did not break before.
  const isRefused = (path: string) =>
    violations.some((each) => each.field === path || (!known.has(keyOf(each)) && isWithin(path, each.field)));
  const right = found.filter(({ field, target }) => !isRefused(field) && !isRefused(target));
  return (right.length === found.length ? found : applicable(request.json, right)).map(
    ({ rule: _rule, target: _target, ...correction }) => correction,
  );
}

function keyOf({ rule, field }: Violation): string {
  return `${rule} ${field}`;
}

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && (outer === "" || /^[.[]?$/.test(path.charAt(outer.length)));
}

function findCorrection(mistake: Mistake): (Change & { readonly kind: string }) | undefined {
  for (const { name, rules, find } of mistakeKinds) {
    if (!rules.test(mistake.violation.rule)) continue;
    const change = find(mistake);
    if (change === undefined || JSON.stringify(change.steps).length > patchCharactersMax) continue;
    return { ...change, kind: name };
  }
  return undefined;
}

/** Leaves out corrections that build on one that was left out. */
function applicable<Found extends FoundCorrection>(json: unknown, found: readonly Found[]): readonly Found[] {
  const document = structuredClone(json);
  for (const correction of found) {
    try {
      patchInPlace(document, correction.patch);
    } catch {
      return applicable(
        json,
        found.filter((each) => each !== correction),
      );
    }
  }
  return found;
}

/** Whether a value takes at most so many bytes, roughly. The walk ends where it exceeds them. */
export function isWithinBytes(value: unknown, bytesMax: number): boolean {
  return remaining(value, bytesMax) >= 0;
}

function remaining(value: unknown, budget: number): number {
  let left = budget - 8;
  if (typeof value === "string" || value instanceof Uint8Array) return left - value.length;
  if (typeof value !== "object" || value === null) return left;
  for (const name in value) {
    if (left < 0) return left;
    left = remaining((value as Record<string, unknown>)[name], left - name.length);
  }
  return left;
}
