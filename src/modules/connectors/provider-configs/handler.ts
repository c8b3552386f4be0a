import { create } from "@bufbuild/protobuf";
import {
  ActivateProviderConfigResponseSchema,
  ArchiveProviderConfigResponseSchema,
  CreateProviderConfigResponseSchema,
  DisableProviderConfigResponseSchema,
  GetProviderConfigResponseSchema,
  ListProviderConfigsResponseSchema,
  type ProviderConfig as ProviderConfigMessage,
  ProviderConfigSchema,
  type ProviderConfigService as Rpc,
  UpdateProviderConfigResponseSchema,
} from "../../../../gen/service/api/provider_config_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { ProviderConfig } from "./domain/provider-config.ts";
import type { ProviderConfigService } from "./service.ts";
import { providerConfigStore } from "./store.ts";
import { providerConfigVersionHandlers } from "./versions/version-handler.ts";

interface Dependencies {
  readonly service: ProviderConfigService;
  readonly cursors: Cursors;
  readonly redirectUriOf: (id: string) => string;
}

export function providerConfigHandlers({ service, cursors, redirectUriOf }: Dependencies): Handlers<typeof Rpc> {
  const fromConfig = (config: ProviderConfig): ProviderConfigMessage =>
    create(ProviderConfigSchema, {
      id: config.id,
      tenantId: config.tenantId,
      environmentId: config.environmentId,
      providerKey: config.providerKey,
      name: config.name,
      status: config.status,
      clientId: config.clientId,
      secretNames: [...config.secretNames],
      scopes: [...config.scopes],
      settings: { ...config.settings },
      manifestVersion: config.manifestVersion,
      redirectUri: redirectUriOf(config.id),
      activatedAt: optionalTime(config.activatedAt),
      ...stampFields(config),
    });

  return {
    ...providerConfigVersionHandlers({ service, cursors }),

    async createProviderConfig(context, request) {
      const { providerKey, name, environmentId, clientId, secrets, scopes, settings, manifestVersion } = request;
      const input = { providerKey, name, environmentId, clientId, secrets, scopes, settings, manifestVersion };
      const config = await service.createProviderConfig(context, input);
      return create(CreateProviderConfigResponseSchema, { providerConfig: fromConfig(config) });
    },

    async getProviderConfig(context, { id }) {
      const config = await service.getProviderConfig(context, id);
      return create(GetProviderConfigResponseSchema, { providerConfig: fromConfig(config) });
    },

    async listProviderConfigs(context, request) {
      const { tenantId, sql, operation, principal } = context;
      const filter = {
        providerKey: request.providerKey || undefined,
        status: request.status || undefined,
        environmentId: (await environmentIdOf(context, request.environmentId)) || undefined,
        inProduction: productionOf(principal),
      };
      const page = await readPage(
        cursors,
        request,
        {
          tenantId,
          operation: operation.id,
          filter: [filter.providerKey, filter.status, filter.environmentId, filter.inProduction],
        },
        ({ id }: ProviderConfig) => id,
        (wanted) => providerConfigStore(sql).list(tenantId, filter, wanted),
      );
      return create(ListProviderConfigsResponseSchema, { ...page, providerConfigs: page.items.map(fromConfig) });
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
      return create(UpdateProviderConfigResponseSchema, { providerConfig: fromConfig(config) });
    },

    async activateProviderConfig(context, { id }) {
      const config = await service.changeStatus(context, id, "activate");
      return create(ActivateProviderConfigResponseSchema, { providerConfig: fromConfig(config) });
    },

    async disableProviderConfig(context, { id }) {
      const config = await service.changeStatus(context, id, "disable");
      return create(DisableProviderConfigResponseSchema, { providerConfig: fromConfig(config) });
    },

    async archiveProviderConfig(context, { id }) {
      const config = await service.changeStatus(context, id, "archive");
      return create(ArchiveProviderConfigResponseSchema, { providerConfig: fromConfig(config) });
    },
  };
}
