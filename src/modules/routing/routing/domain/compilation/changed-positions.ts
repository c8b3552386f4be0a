import type { Recipient } from "../../../pools/index.ts";

/** Returns the positions whose recipient changed; undefined if the lists contain different recipients. */
export function changedPositions(before: readonly Recipient[], after: readonly Recipient[]): number[] | undefined {
  if (before.length !== after.length) return undefined;
  const positions: number[] = [];
  for (let at = 0; at < after.length; at++) {
    if (before[at] === after[at]) continue;
    if (before[at]!.id !== after[at]!.id) return undefined;
    positions.push(at);
  }
  return positions;
}
