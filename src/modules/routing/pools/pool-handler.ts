import { create } from "@bufbuild/protobuf";
import {
  CreatePoolResponseSchema,
  DeletePoolResponseSchema,
  GetPoolResponseSchema,
  ListPoolsResponseSchema,
  type Pool as PoolMessage,
  PoolSchema,
  type PoolService as Rpc,
  SetPoolEnabledResponseSchema,
  Pool_Status as Status,
  UpdatePoolResponseSchema,
} from "../../../../gen/service/api/pool_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, nameOf, stampFields } from "../../../platform/records/index.ts";
import { fromConfig, toSettings } from "./config-message.ts";
import type { Pool, PoolMembers, StoredPool } from "./domain/pool.ts";
import type { Strategy } from "./domain/strategy.ts";
import type { PoolService } from "./pool-service.ts";
import { poolStore } from "./pool-store.ts";

export function poolHandlers(service: PoolService, cursors: Cursors): Handlers<typeof Rpc> {
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
      return create(CreatePoolResponseSchema, { pool: await withMembers(context, pool) });
    },

    async getPool(context, request) {
      const pool = await service.getPool(context, request.poolId);
      return create(GetPoolResponseSchema, { pool: await withMembers(context, pool) });
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
      return create(UpdatePoolResponseSchema, { pool: await withMembers(context, pool) });
    },

    async setPoolEnabled(context, { poolId, enabled }) {
      const pool = await service.setPoolEnabled(context, poolId, enabled!);
      return create(SetPoolEnabledResponseSchema, { pool: await withMembers(context, pool) });
    },

    async deletePool(context, request) {
      const pool = await service.deletePool(context, request.poolId);
      return create(DeletePoolResponseSchema, { pool: await withMembers(context, pool) });
    },

    async listPools(context, request) {
      const { tenantId, principal, operation, sql } = context;
      const environmentId = await service.environmentIdOf(context, request.environmentId);
      const filter = {
        environmentMode: principal.environmentMode,
        status: nameOf(statuses, request.status),
        environmentId,
      };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: Object.values(filter) },
        (pool: Pool & PoolMembers) => pool.id,
        (wanted) => poolStore(sql).list(tenantId, filter, wanted),
      );
      const pools = page.items.map((pool) => fromPool(pool, pool));
      return create(ListPoolsResponseSchema, { ...page, pools });
    },
  };
}

const statuses = {
  active: Status.ACTIVE,
  disabled: Status.DISABLED,
  draining: Status.DRAINING,
  archived: Status.ARCHIVED,
} as const;

async function withMembers({ sql, tenantId }: Context, pool: StoredPool): Promise<PoolMessage> {
  return fromPool(pool, await poolStore(sql).membersOf(tenantId, pool.id));
}

function fromPool(pool: Pool, { recipientIds, ruleIds, recipientCount, ruleCount }: PoolMembers): PoolMessage {
  return create(PoolSchema, {
    id: pool.id,
    tenantId: pool.tenantId,
    environmentId: pool.environmentId,
    name: pool.name,
    description: pool.description,
    strategy: pool.strategy,
    status: statuses[pool.status],
    config: fromConfig(pool.config),
    recipientIds: [...recipientIds],
    ruleIds: [...ruleIds],
    recipientCount,
    ruleCount,
    ...stampFields(pool),
  });
}
