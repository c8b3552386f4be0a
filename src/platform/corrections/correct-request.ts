import type { DescMessage } from "@bufbuild/protobuf";
import type { Correction, FindRepair, Violation } from "../../errors/index.ts";
import { isGuardedField } from "./guard.ts";
import { applyPatch } from "./json-patch.ts";
import { mistakeKinds } from "./kinds.ts";
import type { Change, Mistake } from "./mistake.ts";
import { findPlace, isSecret } from "./place.ts";

/** A refused request. */
export interface RefusedRequest {
  readonly desc: DescMessage;
  readonly json: unknown;
  readonly violations: readonly Violation[];
  readonly naming: Mistake["naming"];
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
  const { desc, json, check } = request;
  const found: (FoundCorrection & { readonly rule: string; readonly target: string })[] = [];
  const tried = new Set<string>();
  let { violations } = request;
  let document = json;
  for (let round = 0; round < roundsMax; round++) {
    const before = found.length;
    for (const violation of violations) {
      const key = `${violation.rule} ${violation.field}`;
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
      if (correction === undefined) continue;
      // Secrets are not sent back.
      if (correction.value !== undefined && place.field !== undefined && isSecret(place.field)) continue;
      const { target, steps, ...rest } = correction;
      document = applyPatch(document, steps);
      const { field, rule } = violation;
      found.push({ ...rest, field, rule, patch: steps, target: target ?? field, root: place.names[0]! });
    }
    if (found.length === before) break;
    violations = check(document);
  }
  const refused = new Set(violations.map(({ field }) => field));
  return applicable(
    json,
    found.filter(({ field, target }) => !refused.has(field) && !refused.has(target)),
  );
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
function applicable(json: unknown, found: readonly (FoundCorrection & { rule: string; target: string })[]) {
  let document = json;
  return found.flatMap(({ rule: _rule, target: _target, ...correction }) => {
    try {
      document = applyPatch(document, correction.patch);
      return [correction];
    } catch {
      return [];
    }
  });
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
