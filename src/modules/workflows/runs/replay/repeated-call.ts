import type { KeyedCall } from "../../../../chain/call.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { readUsedKeys } from "../../../../platform/idempotency/index.ts";

/**
 * Carries out a call, unless its idempotency key was used before. A call that fails because the same call has just succeeded
 * is a repetition of that call.
 */
export async function unlessRepeated<T>(
  sql: Sql,
  keyed: KeyedCall | undefined,
  work: () => Promise<T>,
): Promise<T | "duplicate"> {
  const isRepeated = async () => keyed !== undefined && (await readUsedKeys(sql, [keyed.claim])).size > 0;
  if (await isRepeated()) return "duplicate";
  try {
    return await work();
  } catch (error) {
    if (await isRepeated()) return "duplicate";
    throw error;
  }
}
