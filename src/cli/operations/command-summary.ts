import { firstSentence } from "../output/first-sentence.ts";

/** The one-line description of an operation's command, from its comment and governance. */
export function commandSummary(
  comment: string,
  { deprecation, internalOnly }: { readonly deprecation?: unknown; readonly internalOnly?: boolean },
): string {
  const notes: string[] = [];
  if (deprecation !== undefined) notes.push("(deprecated)");
  if (internalOnly) notes.push("(internal plane)");
  return [firstSentence(comment), ...notes].join(" ");
}
