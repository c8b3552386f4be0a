import type { ProviderConfigService as Rpc } from "../../../../gen/service/api/provider_config_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { ProviderConfig } from "./domain/provider-config.ts";
import type { ProviderConfigService } from "./service.ts";
import { providerConfigStore } from "./store.ts";
import { providerConfigVersionHandlers } from "./versions/version-handler.ts";

export function providerConfigHandlers(
  service: ProviderConfigService,
  redirectUriOf: (id: string) => string,
): Handlers<typeof Rpc> {
  const fromConfig = (config: ProviderConfig) => ({ ...config, redirectUri: redirectUriOf(config.id) });

  return {
    ...providerConfigVersionHandlers(service),

    async createProviderConfig(context, request) {
      return { providerConfig: fromConfig(await service.createProviderConfig(context, request)) };
    },

    async getProviderConfig(context, { id }) {
      return { providerConfig: fromConfig(await service.getProviderConfig(context, id)) };
    },

    async listProviderConfigs(context, request) {
      const { tenantId, sql, principal } = context;
      const filter = {
        providerKey: request.providerKey || undefined,
        status: request.status || undefined,
        environmentId: (await environmentIdOf(context, request.environmentId)) || undefined,
        inProduction: productionOf(principal),
      };
      const page = await context.page("providerConfigs", request, Object.values(filter), (wanted) =>
        providerConfigStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, providerConfigs: page.providerConfigs.map(fromConfig) };
    },

    async updateProviderConfig(context, request) {
      const { id, name, clientId, secrets, scopeSet, settingSet, manifestVersion, recordVersion } = request;
      const change = {
        name,
        clientId,
        secrets: Object.keys(secrets).length === 0 ? undefined : secrets,
        scopes: scopeSet?.scopes,
        settings: settingSet?.settings,
        manifestVersion,
      };
      const config = await service.updateProviderConfig(context, id, change, expectedVersion(recordVersion));
      return { providerConfig: fromConfig(config) };
    },

    async activateProviderConfig(context, { id }) {
      return { providerConfig: fromConfig(await service.changeStatus(context, id, "activate")) };
    },

    async disableProviderConfig(context, { id }) {
      return { providerConfig: fromConfig(await service.changeStatus(context, id, "disable")) };
    },

    async archiveProviderConfig(context, { id }) {
      return { providerConfig: fromConfig(await service.changeStatus(context, id, "archive")) };
    },
  };
}
