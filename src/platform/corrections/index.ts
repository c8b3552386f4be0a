/**
 * Corrections: what would have been accepted instead of a refused request, where that can be known.
 *
 * mistake: a violation with its place in the request. kind: what mistakes have in common that are corrected in one way.
 * change: the steps of a JSON Patch that correct a mistake. guarded: never corrected, because a wrong guess could widen
 * access, spend or delete.
 */
export { correctedBytesMax, correctRequest, type FoundCorrection, isWithinBytes } from "./correct-request.ts";
export { isGuarded, isGuardedField, isGuardedVerb } from "./guard.ts";
export { applyPatch } from "./json-patch.ts";
export { isSecret } from "./place.ts";
