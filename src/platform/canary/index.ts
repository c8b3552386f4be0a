/**
 * Canaries: a new version of a target that gets a share of its keys.
 *
 * target: what has versions, such as a pool. key: what decides the side, such as the key of an item; a key always has the same
 * side, on every node and after a restart. share: how many keys are on the side of the canary.
 */
export { type Canary, canaryStore, type TargetKind } from "./canary-store.ts";
export { isOnCanarySide } from "./sticky-side.ts";
