import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { requireEnvironment } from "../../../platform/access/index.ts";
import { unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange } from "../../../platform/records/index.ts";
import { checkConfig, checkConsistency } from "./checks/reference-checks.ts";
import { mergeSettings, resetSettings } from "./domain/config-settings.ts";
import type { NewPool, PoolChange, PoolId, StoredPool } from "./domain/pool.ts";
import type { PoolServiceParts } from "./pool-access.ts";
import { poolStore } from "./pool-store.ts";
import { recordPoolVersion } from "./versions/version-recorder.ts";
import type { CloseQueue } from "./work-store.ts";

interface Dependencies extends PoolServiceParts {
  readonly closeQueue: CloseQueue;
}

export type PoolService = ReturnType<typeof createPoolService>;

export function createPoolService({ access, events, closeQueue }: Dependencies) {
  async function setStatus(context: Context, { id }: StoredPool, status: StoredPool["status"]): Promise<StoredPool> {
    await access.change(context, id);
    const { sql, tenantId, nowMs } = context;
    return (await poolStore(sql).update(tenantId, id, { status }, undefined, new Date(nowMs)))!;
  }

  return {
    async createPool(context: Context, input: NewPool): Promise<StoredPool> {
      const { sql, tenantId, nowMs } = context;
      const environment = await requireEnvironment(context, input.environmentId);
      if (environment.status !== "active") {
        throw fail("FAILED_PRECONDITION", {
          public: `The environment ${environment.key} is disabled: enable it or choose another one.`,
        });
      }
      const id = ulid(nowMs) as PoolId;
      await checkConfig(context, { id, environmentId: environment.id }, input.settings, input.strategy);
      const pool = { ...input, tenantId, id, environmentId: environment.id };
      const created = await poolStore(sql).insert(pool, new Date(nowMs));
      await recordPoolVersion(context, id);
      await access.announce(context, id);
      const { name, strategy, environmentId } = created;
      await events.record(context, "pool.created", id, { name, strategy, environment_id: environmentId });
      return created;
    },

    getPool: access.read,

    async updatePool(
      context: Context,
      poolId: string,
      { resetConfig = [], settings, ...fields }: PoolChange,
      expectedVersion: number | undefined,
    ): Promise<StoredPool> {
      const { sql, tenantId, nowMs } = context;
      if (isEmptyChange(fields) && isEmptyChange(settings ?? {}) && resetConfig.length === 0) {
        return unchangedRecord(await access.read(context, poolId), expectedVersion, "pool");
      }
      const current = await access.change(context, poolId);
      const base = resetConfig.length === 0 ? current.settings : resetSettings(current.settings, resetConfig);
      const wanted = settings === undefined ? base : mergeSettings(base, settings);
      // Unchanged settings are not validated again: they may refer to a pool that has been archived since.
      if (wanted !== current.settings) await checkConfig(context, current, wanted, fields.strategy ?? current.strategy);
      else if (fields.strategy !== undefined) checkConsistency(wanted, fields.strategy);
      const changed = await poolStore(sql).update(
        tenantId,
        current.id,
        { ...fields, settings: wanted },
        expectedVersion,
        new Date(nowMs),
      );
      if (changed === undefined) throw updateRefusal(current, "pool");
      await recordPoolVersion(context, current.id);
      const config = settings === undefined && resetConfig.length === 0 ? undefined : true;
      await events.record(context, "pool.updated", current.id, { fields: changedFields({ ...fields, config }) });
      return changed;
    },

    async setPoolEnabled(context: Context, poolId: string, enabled: boolean): Promise<StoredPool> {
      const status = enabled ? "active" : "disabled";
      const pool = await access.read(context, poolId);
      if (pool.status === status) return pool;
      const changed = await setStatus(context, pool, status);
      await events.record(context, enabled ? "pool.enabled" : "pool.disabled", pool.id, { name: pool.name });
      return changed;
    },

    async deletePool(context: Context, poolId: string): Promise<StoredPool> {
      const { sql, tenantId } = context;
      const pool = await access.read(context, poolId);
      if (pool.status === "archived") return pool;
      const archived = await setStatus(context, pool, "archived");
      if (!(await closeQueue(sql, tenantId, pool.id))) {
        throw fail("FAILED_PRECONDITION", {
          public: "The pool still has queued or leased items: drain its queue first.",
        });
      }
      await events.record(context, "pool.archived", pool.id, { name: pool.name });
      return archived;
    },
  };
}
