import type { Context } from "../../../../chain/call.ts";
import { covers } from "../../../../platform/access/index.ts";
import type { PoolSnapshot } from "../domain/snapshot.ts";

/** Returns a recipient's name for explanations. */
export type RecipientNames = (recipientId: string) => string;

/** Names the recipients of a pool for callers who may read them; others get ids. */
export function createRecipientNames(
  { principal }: Pick<Context, "principal">,
  snapshot: PoolSnapshot | undefined,
): RecipientNames {
  if (snapshot === undefined || !covers(principal.scopes, "recipient:read")) return (id) => id;
  const names = new Map<string, string>(snapshot.recipients.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}
