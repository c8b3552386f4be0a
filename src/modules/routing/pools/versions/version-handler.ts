import { create } from "@bufbuild/protobuf";
import type { PoolVersionService as Rpc } from "../../../../../gen/service/api/pool_version_pb.ts";
import { RuleActionSchema } from "../../../../../gen/service/api/rule_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { fromSettings, toSettings } from "../config-message.ts";
import { decodeContent } from "../domain/pool-content.ts";
import type { Strategy } from "../domain/strategy.ts";
import type { PoolAccess } from "../pool-access.ts";
import { toNewRule } from "../rules/rule-handler.ts";
import type { PoolVersionService } from "./version-service.ts";
import { type PoolVersion, type StoredPoolVersion, versionStore } from "./version-store.ts";

export function poolVersionHandlers(service: PoolVersionService, access: PoolAccess): Handlers<typeof Rpc> {
  async function withContent({ sql, tenantId }: Context, version: StoredPoolVersion) {
    const active = await versionStore(sql).findActive(tenantId, version.poolId);
    const { strategy, settings, rules } = decodeContent(version.content);
    return {
      ...fromVersion(version, active?.version),
      strategy,
      config: fromSettings(settings),
      rules: rules.map((rule) => ({ ...rule, action: create(RuleActionSchema, rule.action) })),
      content: version.content,
    };
  }

  return {
    async createPoolVersion(context, { poolId, strategy, config, ruleSet, message }) {
      const staged = await service.stageVersion(context, poolId, {
        strategy: strategy as Strategy | undefined,
        settings: config === undefined ? undefined : toSettings(config),
        rules: ruleSet?.rules.map((rule) => ({ id: rule.id, ...toNewRule(rule) })),
        message,
      });
      return { poolVersion: await withContent(context, staged) };
    },

    async getPoolVersion(context, { poolId, version }) {
      const found = await service.getVersion(context, poolId, version);
      return { poolVersion: await withContent(context, found) };
    },

    async listPoolVersions(context, request) {
      const { tenantId, sql } = context;
      const pool = await access.read(context, request.poolId);
      const store = versionStore(sql);
      const [page, active] = await Promise.all([
        context.page(
          "poolVersions",
          request,
          [pool.id],
          (wanted) => store.list(tenantId, pool.id, wanted),
          ({ version }) => String(version),
        ),
        store.findActive(tenantId, pool.id),
      ]);
      return { ...page, poolVersions: page.poolVersions.map((each) => fromVersion(each, active?.version)) };
    },

    async diffPoolVersion(context, { poolId, version, against }) {
      return { diff: { version, ...(await service.diffVersions(context, poolId, version, against)) } };
    },

    async activatePoolVersion(context, { poolId, version, expectedSha256 }) {
      const activated = await service.activateVersion(context, poolId, version, expectedSha256);
      return { poolVersion: await withContent(context, activated) };
    },
  };
}

/** Converts a version without its content. */
const fromVersion = (version: PoolVersion, active: number | undefined) => ({
  ...version,
  sha256: version.digest,
  active: version.version === active,
  ...{ strategy: "", rules: [], content: "" },
});
