import type { TenantId } from "../../../../platform/access/index.ts";
import { canaryStore, isOnCanarySide } from "../../../../platform/canary/index.ts";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import { notFound, type Sql } from "../../../../platform/db/index.ts";
import type { ArtifactFinding, KeyOutcome, OutcomeQuery, PromotableArtifacts } from "../../../promotable-artifacts.ts";
import { type ConfigContent, decodeConfigContent } from "../domain/config-content.ts";
import type { ProviderConfigService } from "../service.ts";
import { providerConfigStore } from "../store.ts";
import { recordConfigVersion } from "./version-recorder.ts";
import { configVersionStore } from "./version-store.ts";

/** Creates the artifacts of provider configs. A canary chooses by connection. */
export function createProviderConfigArtifacts(service: ProviderConfigService): PromotableArtifacts {
  return {
    kind: "connector",
    targetKind: "provider_config",
    scopes: ["provider_config:write"],

    async findTarget(context, environmentId, ref) {
      const config = await providerConfigStore(context.sql).lock(context.tenantId, ref);
      if (config === undefined || config.status === "archived" || config.environmentId !== environmentId) {
        return undefined;
      }
      const { version, digest } = await recordConfigVersion(context, config);
      return { id: config.id, name: config.name, live: { version, sha256: digest } };
    },

    async findVersion({ sql, tenantId }, targetId, version) {
      const found = await configVersionStore(sql).find(tenantId, targetId, version);
      return found && { version, sha256: found.digest, authors: [found.createdBy] };
    },

    async check(context, _environmentId, targetId, version) {
      const config = await service.getProviderConfig(context, targetId);
      const found = await configVersionStore(context.sql).find(context.tenantId, targetId, version);
      if (found === undefined) throw notFound("provider config version");
      const content = decodeConfigContent(found.content);
      const problems = await service.problemsOf(context, config, content);
      return {
        impacts: impactsOf(config, content),
        blocking: problems.map((message) => ({ code: "incomplete", message })),
      };
    },

    async live(context, targetId) {
      const active = await configVersionStore(context.sql).findActive(context.tenantId, targetId);
      if (active === undefined) throw notFound("provider config");
      return { version: active.version, sha256: active.digest };
    },

    async lock(context, targetId) {
      const config = await providerConfigStore(context.sql).lock(context.tenantId, targetId);
      if (config === undefined) throw notFound("provider config");
      const { version, digest } = await recordConfigVersion(context, config);
      return { version, sha256: digest };
    },

    async activate(context, targetId, version) {
      await service.activateVersion(context, targetId, version);
    },

    async startCanary(context, canary) {
      await canaryStore(context.sql).start(context.tenantId, "provider_config", canary);
      await service.invalidateCaches(context);
    },

    async stopCanary(context, targetId, candidateId) {
      await canaryStore(context.sql).stop(context.tenantId, "provider_config", targetId, candidateId);
      await service.invalidateCaches(context);
    },

    outcomes: readExecutionOutcomes,
  };
}

/** Describes the changes of a version for a reviewer. */
function impactsOf(before: ConfigContent, after: ConfigContent): ArtifactFinding[] {
  const impacts: ArtifactFinding[] = [];
  const added = after.scopes.filter((scope) => !before.scopes.includes(scope));
  const removed = before.scopes.filter((scope) => !after.scopes.includes(scope));
  if (added.length + removed.length > 0) {
    const names = [...added.map((scope) => `+${scope}`), ...removed.map((scope) => `-${scope}`)].join(", ");
    const message = `Scopes change: ${names}. Connections keep their grant until they are connected again.`;
    impacts.push({ code: "scopes_changed", message });
  }
  if (before.manifestVersion !== after.manifestVersion) {
    const nameOf = ({ manifestVersion }: ConfigContent) => manifestVersion || "the newest version";
    const message = `Actions change from ${nameOf(before)} to ${nameOf(after)} of the manifest.`;
    impacts.push({ code: "actions_changed", message });
  }
  const names = [...new Set([...Object.keys(before.settings), ...Object.keys(after.settings)])];
  const changed = names.filter(
    (name) => canonicalJson(before.settings[name] ?? null) !== canonicalJson(after.settings[name] ?? null),
  );
  if (changed.length > 0)
    impacts.push({ code: "settings_changed", message: `Settings change: ${changed.join(", ")}.` });
  return impacts;
}

/** The first execution of each connection of a provider config. */
async function readExecutionOutcomes(
  sql: Sql,
  tenantId: TenantId,
  { targetId, since, canary, keysMax }: OutcomeQuery,
): Promise<readonly KeyOutcome[]> {
  const rows = await sql<Omit<KeyOutcome, "side">[]>`
    select c.id as key, e.status = 'succeeded' as success,
      (extract(epoch from e.ended_at - e.started_at) * 1000)::float8 as latency_ms
    from connector_connections c
    cross join lateral (
      select status, started_at, ended_at from connector_executions
      where tenant_id = ${tenantId} and connection_id = c.id and started_at >= ${since} and ended_at is not null
      order by id limit 1
    ) e
    where c.tenant_id = ${tenantId} and c.provider_config_id = ${targetId} and c.provider_config_id <> ''
    order by c.id limit ${keysMax}`;
  const sideOf = (key: string) => (canary !== undefined && isOnCanarySide(canary, key) ? "canary" : "baseline");
  return rows.map((row) => ({ ...row, side: canary === undefined ? "" : sideOf(row.key) }));
}
