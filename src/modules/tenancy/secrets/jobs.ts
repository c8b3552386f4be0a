import type { Keyring } from "../../../platform/crypto/index.ts";
import { type Reencryptable, type Reencryption, reencrypt } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { enqueueJobs, type JobKind } from "../../../platform/jobs/index.ts";
import { reencryptableSecrets } from "./store.ts";

/** The kind of the job that re-encrypts values of retired keys with the active key. */
const reencryptKind = "secrets.reencrypt";

const hourMs = 3_600_000;

interface Dependencies {
  readonly sql: Sql;
  readonly keyring: Keyring | undefined;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
  /** Tables of other modules with sealed values. */
  readonly otherTables: readonly Reencryptable[];
}

/** Creates the master key rotation, which runs without downtime. */
export function createRotation({ sql, keyring, platformTenantId, otherTables }: Dependencies) {
  const tables = [reencryptableSecrets(sql), ...otherTables];

  /** Re-encrypts all values of retired keys with the active key, in every table. */
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
      // The error is logged and the job retried, because the operator can add the missing key.
      if (unreadable > 0) {
        throw new Error(
          `${unreadable} sealed values cannot be decrypted: add the missing key to connector.rotation_keys`,
        );
      }
    },
  };

  return {
    reencryptAll,
    sealed: tables,
    jobs: keyring === undefined ? [] : [job],

    /** Schedules the job if any value is not encrypted with the active key, as after a start with a new key. */
    async scheduleReencryption(nowMs: number): Promise<void> {
      if (keyring === undefined) return;
      const stale = await Promise.all(tables.map((table) => table.next(keyring.activeKeyId, undefined, 1)));
      if (stale.every((rows) => rows.length === 0)) return;
      const request = { tenantId: platformTenantId(), kind: reencryptKind, runAt: new Date(nowMs), dedupeKey: "start" };
      await enqueueJobs(sql, [request], nowMs);
    },
  };
}
