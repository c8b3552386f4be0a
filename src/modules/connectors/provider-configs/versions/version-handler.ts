import type { ProviderConfigService as Rpc } from "../../../../../gen/service/api/provider_config_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { ProviderConfigService } from "../service.ts";
import { configVersionStore, type ProviderConfigVersion } from "./version-store.ts";

export function providerConfigVersionHandlers(service: ProviderConfigService) {
  async function withState({ sql, tenantId }: Context, version: ProviderConfigVersion) {
    return fromVersion(version, (await configVersionStore(sql).findActive(tenantId, version.configId))?.version);
  }

  return {
    async createProviderConfigVersion(context, { id, scopeSet, settingSet, manifestVersion, message }) {
      const change = { scopes: scopeSet?.scopes, settings: settingSet?.settings, manifestVersion };
      const staged = await service.stageVersion(context, id, change, message);
      return { providerConfigVersion: await withState(context, staged) };
    },

    async getProviderConfigVersion(context, { id, version }) {
      const config = await service.getProviderConfig(context, id);
      const found = await configVersionStore(context.sql).find(context.tenantId, config.id, version);
      if (found === undefined) throw notFound("provider config version");
      return { providerConfigVersion: await withState(context, found) };
    },

    async listProviderConfigVersions(context, request) {
      const { tenantId, sql } = context;
      const config = await service.getProviderConfig(context, request.id);
      const store = configVersionStore(sql);
      const [page, active] = await Promise.all([
        context.page(
          "providerConfigVersions",
          request,
          [config.id],
          (wanted) => store.list(tenantId, config.id, wanted),
          ({ version }) => String(version),
        ),
        store.findActive(tenantId, config.id),
      ]);
      const versions = page.providerConfigVersions.map((each) => fromVersion(each, active?.version));
      return { ...page, providerConfigVersions: versions };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

const fromVersion = (version: ProviderConfigVersion, active: number | undefined) => ({
  ...version,
  providerConfigId: version.configId,
  sha256: version.digest,
  active: version.version === active,
});
