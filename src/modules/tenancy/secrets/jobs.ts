import type { Keyring } from "../../../platform/crypto/index.ts";
import { type Reencryptable, type Reencryption, reencrypt } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { enqueueJobs, type JobKind } from "../../../platform/jobs/index.ts";
import { reencryptableSecrets } from "./store.ts";

/** The kind of the job that seals with the active key what retired ones sealed. */
const reencryptKind = "secrets.reencrypt";

const hourMs = 3_600_000;

interface Parts {
  readonly sql: Sql;
  readonly keyring: Keyring | undefined;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
  /** What other modules have sealed. */
  readonly furtherTables: readonly Reencryptable[];
}

/** Key rotation while the service runs. */
export function createRotation({ sql, keyring, platformTenantId, furtherTables }: Parts) {
  const tables = [reencryptableSecrets(sql), ...furtherTables];

  /** Seals with the active key whatever others sealed, in every table. */
  async function reencryptAll(signal: AbortSignal): Promise<Reencryption> {
    let reencrypted = 0;
    let unreadable = 0;
    if (keyring !== undefined) {
      for (const table of tables) {
        const done = await reencrypt(keyring, table, signal);
        reencrypted += done.reencrypted;
        unreadable += done.unreadable;
      }
    }
    return { reencrypted, unreadable };
  }

  const job: JobKind = {
    kind: reencryptKind,
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const { unreadable } = await reencryptAll(signal);
      // Thrown so that it shows in the log, and is tried again: the missing key may come back.
      if (unreadable > 0) {
        throw new Error(`${unreadable} sealed values do not open: is a key missing from connector.rotation_keys?`);
      }
    },
  };

  return {
    reencryptAll,
    jobs: keyring === undefined ? [] : [job],

    /** Has the job run soon when anything is not sealed with the active key: after a start with a new one. */
    async planReencryption(nowMs: number): Promise<void> {
      if (keyring === undefined) return;
      const stale = await Promise.all(tables.map((table) => table.next(keyring.activeKeyId, undefined, 1)));
      if (stale.every((rows) => rows.length === 0)) return;
      const soon = { tenantId: platformTenantId(), kind: reencryptKind, runAt: new Date(nowMs), dedupeKey: "start" };
      await enqueueJobs(sql, [soon], nowMs);
    },
  };
}
