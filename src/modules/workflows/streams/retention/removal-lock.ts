import type { Sql } from "../../../../platform/db/index.ts";
import type { StreamKey } from "../domain/stream.ts";

/** The seed of the locks of this kind. */
const seed = 31;

/** Waits for removals of large objects in progress, and lets none begin until the transaction ends. */
export async function lockRemovals(tx: Sql, { streamId }: Pick<StreamKey, "streamId">): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${streamId}, ${seed}))`;
}

/** Begins a removal of large objects, which a legal hold waits for; false if one is in progress or a hold is being set. */
export async function tryLockRemovals(tx: Sql, { streamId }: Pick<StreamKey, "streamId">): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${streamId}, ${seed})) as locked`;
  return row!.locked;
}
