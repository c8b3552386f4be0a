import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ActivatePoolVersionResponseSchema,
  CreatePoolVersionResponseSchema,
  DiffPoolVersionResponseSchema,
  GetPoolVersionResponseSchema,
  ListPoolVersionsResponseSchema,
  type PoolVersion as PoolVersionMessage,
  type PoolVersionRule,
  PoolVersionSchema,
  type PoolVersionService as Rpc,
} from "../../../../../gen/service/api/pool_version_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { fromSettings, toSettings } from "../config-message.ts";
import { decodeContent } from "../domain/pool-content.ts";
import { type NewRule, toAction } from "../domain/rule.ts";
import type { Strategy } from "../domain/strategy.ts";
import type { PoolAccess } from "../pool-access.ts";
import type { PoolVersionService } from "./version-service.ts";
import { type PoolVersion, type StoredPoolVersion, versionStore } from "./version-store.ts";

export function poolVersionHandlers(
  service: PoolVersionService,
  access: PoolAccess,
  cursors: Cursors,
): Handlers<typeof Rpc> {
  async function withContent({ sql, tenantId }: Context, version: StoredPoolVersion): Promise<PoolVersionMessage> {
    const active = await versionStore(sql).findActive(tenantId, version.poolId);
    const { strategy, settings, rules } = decodeContent(version.content);
    return create(PoolVersionSchema, {
      ...fromVersion(version, active?.version),
      strategy,
      config: fromSettings(settings),
      rules: rules.map(({ createdAt: _, ...rule }) => ({ ...rule, action: { ...rule.action } })),
      content: version.content,
    });
  }

  return {
    async createPoolVersion(context, { poolId, strategy, config, ruleSet, message }) {
      const staged = await service.stageVersion(context, poolId, {
        strategy: strategy as Strategy | undefined,
        settings: config === undefined ? undefined : toSettings(config),
        rules: ruleSet?.rules.map(toRule),
        message,
      });
      return create(CreatePoolVersionResponseSchema, { poolVersion: await withContent(context, staged) });
    },

    async getPoolVersion(context, { poolId, version }) {
      const found = await service.getVersion(context, poolId, version);
      return create(GetPoolVersionResponseSchema, { poolVersion: await withContent(context, found) });
    },

    async listPoolVersions(context, request) {
      const { tenantId, operation, sql } = context;
      const pool = await access.read(context, request.poolId);
      const store = versionStore(sql);
      const [page, active] = await Promise.all([
        readPage(
          cursors,
          request,
          { tenantId, operation: operation.id, filter: [pool.id] },
          ({ version }: PoolVersion) => String(version),
          (wanted) => store.list(tenantId, pool.id, wanted),
        ),
        store.findActive(tenantId, pool.id),
      ]);
      const poolVersions = page.items.map((each) => create(PoolVersionSchema, fromVersion(each, active?.version)));
      return create(ListPoolVersionsResponseSchema, { ...page, poolVersions });
    },

    async diffPoolVersion(context, { poolId, version, against }) {
      const diff = await service.diffVersions(context, poolId, version, against);
      const changes = diff.changes.map((change) => ({ ...change }));
      return create(DiffPoolVersionResponseSchema, { diff: { version, against: diff.against, changes } });
    },

    async activatePoolVersion(context, { poolId, version, expectedSha256 }) {
      const activated = await service.activateVersion(context, poolId, version, expectedSha256);
      return create(ActivatePoolVersionResponseSchema, { poolVersion: await withContent(context, activated) });
    },
  };
}

function toRule(rule: PoolVersionRule): NewRule & { readonly id: string } {
  return {
    id: rule.id,
    name: rule.name,
    priority: rule.priority ?? 100,
    condition: rule.condition,
    enabled: rule.enabled ?? true,
    stopOnMatch: rule.stopOnMatch ?? true,
    onError: (rule.onError ?? "skip") as NewRule["onError"],
    action: toAction(rule.action!),
  };
}

function fromVersion(version: PoolVersion, active: number | undefined) {
  const { poolId, digest, origin, message, createdBy, createdAt } = version;
  return {
    ...{ poolId, version: version.version, sha256: digest, active: version.version === active },
    ...{ origin, message, createdBy, createdAt: timestampFromDate(createdAt) },
  };
}
