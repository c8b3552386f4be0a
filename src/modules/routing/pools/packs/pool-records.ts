import { create } from "@bufbuild/protobuf";
import { type CreatePoolRequest, CreatePoolRequestSchema } from "../../../../../gen/service/api/pool_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import { invalid } from "../../../../errors/index.ts";
import { insertRowImages, readRowImages } from "../../../../platform/db/index.ts";
import { createJsonEncoder } from "../../../../platform/protojson/index.ts";
import { createRequestReader } from "../../../../platform/validation/index.ts";
import type { JsonObject, PackRecords } from "../../../pack-records.ts";
import { fromSettings, toSettings } from "../config-message.ts";
import type { NewPool, PoolId, StoredPool } from "../domain/pool.ts";
import type { Strategy } from "../domain/strategy.ts";
import type { PoolAccess } from "../pool-access.ts";
import type { PoolService } from "../pool-service.ts";
import { poolStore } from "../pool-store.ts";
import { lockRedirects } from "../redirect-store.ts";
import { recordPoolVersion } from "../versions/version-recorder.ts";
import { versionStore } from "../versions/version-store.ts";

const read = createRequestReader(CreatePoolRequestSchema);
const encode = createJsonEncoder(CreatePoolRequestSchema, "proto");
const settingsPaths = [
  ...["selection", "fallback", "queue", "lease", "retry", "dlq", "outlier", "admission", "anomaly", "item_events"],
  "accepts_unaddressed",
];

/** Pools as packs contain them: the body of CreatePool without a status. */
export function createPoolRecords(access: PoolAccess, service: PoolService): PackRecords {
  async function find({ sql, tenantId }: Context, id: string): Promise<StoredPool | undefined> {
    const pool = await poolStore(sql).find(tenantId, id);
    return pool?.status === "archived" ? undefined : pool;
  }

  return {
    kind: "pool",
    scopes: ["pool:write"],
    normalize: (content) => contentOf(toPool(content)),
    permissionsOf: () => ({ hosts: [], scopes: [], effects: ["routing:pool"] }),

    mapReferences(content, replace) {
      const config = content.config as JsonObject;
      const fallback = (config.fallback ?? {}) as JsonObject;
      const redirect = fallback.redirect_pool_id as string | undefined;
      return {
        ...content,
        environment_id: replace("environment", content.environment_id as string),
        config: redirect
          ? { ...config, fallback: { ...fallback, redirect_pool_id: replace("pool", redirect) } }
          : config,
      };
    },

    async find({ sql, tenantId }, idOrName) {
      const pool = await poolStore(sql).findNamed(tenantId, idOrName);
      return pool?.id;
    },

    async read(context, recordId) {
      const pool = await find(context, recordId);
      return pool && { content: contentOf(pool) };
    },

    async create(context, content) {
      return (await service.createPool(context, toPool(content))).id;
    },

    async update(context, recordId, content) {
      const { environmentId, name, description, strategy, settings } = toPool(content);
      const current = await access.read(context, recordId);
      if (environmentId !== current.environmentId) {
        throw invalid("environment_id", "immutable", "must stay the same: a pool cannot move to another environment");
      }
      const change = { name, description, strategy, settings, resetConfig: settingsPaths };
      await service.updatePool(context, recordId, change, undefined);
    },

    async remove(context, recordId) {
      await service.deletePool(context, recordId);
    },

    async names(context, recordId) {
      const pool = await find(context, recordId);
      return pool === undefined ? [] : [pool.id, pool.name];
    },

    async uses(context, recordId) {
      const { sql, tenantId } = context;
      const pool = await find(context, recordId);
      if (pool === undefined) return [];
      const { recipientCount } = await poolStore(sql).membersOf(tenantId, pool.id);
      const redirects = (await lockRedirects(sql, tenantId)).filter(({ toId }) => toId === pool.id);
      return [
        ...(recipientCount > 0 ? [{ what: "recipients of the pool", name: `${recipientCount}` }] : []),
        ...redirects.map(({ fromName }) => ({ what: "pool", name: fromName })),
      ];
    },

    async image(context, recordId) {
      const { sql, tenantId } = context;
      const [image] = await readRowImages(sql, "pools", sql`tenant_id = ${tenantId} and id = ${recordId}`);
      if (image === undefined) return undefined;
      // The revision only tells nodes to reload the pool. It never goes back, because nodes compare it.
      return JSON.stringify({ ...JSON.parse(image), revision: 0 });
    },

    async restore(context, recordId, image) {
      const { sql, tenantId } = context;
      const current = await poolStore(sql).raiseRevision(tenantId, recordId);
      if (current !== undefined) {
        await access.announce(context, current.id);
        await sql`delete from pools where tenant_id = ${tenantId} and id = ${recordId}`;
      }
      if (image === undefined) return versionStore(sql).deleteAll(tenantId, recordId);
      const revision = current?.revision ?? 1;
      await insertRowImages(sql, "pools", [JSON.stringify({ ...JSON.parse(image), revision })]);
      await recordPoolVersion(context, recordId as PoolId);
    },
  };
}

function toPool(content: JsonObject): NewPool {
  const request: CreatePoolRequest = read(content);
  if (request.status !== 0) throw invalid("status", "unknown_field", "must not be part of a pack");
  if (request.environmentId === "") {
    throw invalid("environment_id", "required", "must be a slot (for example: [[slot.environment]])");
  }
  return {
    environmentId: request.environmentId,
    name: request.name,
    description: request.description,
    strategy: (request.strategy || "weighted_random") as Strategy,
    status: "active",
    settings: request.config === undefined ? {} : toSettings(request.config),
  };
}

function contentOf({ environmentId, name, description, strategy, settings }: Omit<NewPool, "status">): JsonObject {
  const config = fromSettings(settings);
  const message = create(CreatePoolRequestSchema, { environmentId, name, description, strategy, config });
  const { status: _, ...content } = JSON.parse(encode(message)) as JsonObject;
  return content;
}
