import type { Recipient } from "./recipient.ts";

/** The current state of a recipient, or a removed recipient. */
type RecipientChange = Omit<Recipient, "status"> & { readonly status: Recipient["status"] | "removed" };

/** Applies changes to recipients that are sorted by id. Unchanged recipients stay the same objects. */
export function mergeChanges(before: readonly Recipient[], changes: readonly RecipientChange[]): readonly Recipient[] {
  if (changes.length === 0) return before;
  const changed = new Map(changes.map((change) => [change.id, change]));
  const merged: Recipient[] = [];
  for (const recipient of before) {
    const now = changed.get(recipient.id) ?? recipient;
    if (isPresent(now)) merged.push(now);
    changed.delete(recipient.id);
  }
  const added = [...changed.values()].filter(isPresent);
  return added.length === 0 ? merged : [...merged, ...added].sort((one, other) => (one.id < other.id ? -1 : 1));
}

function isPresent(recipient: RecipientChange): recipient is Recipient {
  return recipient.status !== "removed";
}
