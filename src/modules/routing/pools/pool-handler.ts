import { type PoolService as Rpc, Pool_Status as Status } from "../../../../gen/service/api/pool_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { requireEnvironmentId } from "../../../platform/access/index.ts";
import { enumNumbers, expectedVersion, nameOf } from "../../../platform/records/index.ts";
import { fromSettings, toSettings } from "./config-message.ts";
import type { Pool, PoolMembers, StoredPool } from "./domain/pool.ts";
import type { Strategy } from "./domain/strategy.ts";
import type { PoolService } from "./pool-service.ts";
import { poolStore } from "./pool-store.ts";

export function poolHandlers(service: PoolService): Handlers<typeof Rpc> {
  return {
    async createPool(context, { name, description, strategy, status, environmentId, config }) {
      const pool = await service.createPool(context, {
        environmentId,
        name,
        description,
        strategy: (strategy || "weighted_random") as Strategy,
        status: nameOf(statuses, status) ?? "active",
        settings: config === undefined ? {} : toSettings(config),
      });
      return { pool: await withMembers(context, pool) };
    },

    async getPool(context, request) {
      return { pool: await withMembers(context, await service.getPool(context, request.poolId)) };
    },

    async updatePool(context, { poolId, name, description, strategy, status, config, resetConfig, recordVersion }) {
      const change = {
        name,
        description,
        strategy: strategy as Strategy | undefined,
        status: status === undefined ? undefined : nameOf(statuses, status),
        settings: config === undefined ? undefined : toSettings(config),
        resetConfig,
      };
      const pool = await service.updatePool(context, poolId, change, expectedVersion(recordVersion));
      return { pool: await withMembers(context, pool) };
    },

    async setPoolEnabled(context, { poolId, enabled }) {
      return { pool: await withMembers(context, await service.setPoolEnabled(context, poolId, enabled!)) };
    },

    async deletePool(context, request) {
      return { pool: await withMembers(context, await service.deletePool(context, request.poolId)) };
    },

    async listPools(context, request) {
      const { tenantId, principal, sql } = context;
      const filter = {
        environmentMode: principal.environmentMode,
        status: nameOf(statuses, request.status),
        environmentId: await requireEnvironmentId(context, request.environmentId),
      };
      const page = await context.page("pools", request, Object.values(filter), (wanted) =>
        poolStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, pools: page.pools.map(fromPool) };
    },
  };
}

const statuses = enumNumbers(Status);

async function withMembers({ sql, tenantId }: Context, pool: StoredPool) {
  return fromPool({ ...pool, ...(await poolStore(sql).membersOf(tenantId, pool.id)) });
}

const fromPool = (pool: Pool & PoolMembers) => ({
  ...pool,
  status: statuses[pool.status],
  config: fromSettings(pool.config),
});
