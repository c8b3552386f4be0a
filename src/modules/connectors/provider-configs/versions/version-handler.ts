import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CreateProviderConfigVersionResponseSchema,
  GetProviderConfigVersionResponseSchema,
  ListProviderConfigVersionsResponseSchema,
  type ProviderConfigVersion as ProviderConfigVersionMessage,
  ProviderConfigVersionSchema,
  type ProviderConfigService as Rpc,
} from "../../../../../gen/service/api/provider_config_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import type { ProviderConfigService } from "../service.ts";
import { configVersionStore, type ProviderConfigVersion } from "./version-store.ts";

interface Dependencies {
  readonly service: ProviderConfigService;
  readonly cursors: Cursors;
}

type VersionMethods = "createProviderConfigVersion" | "getProviderConfigVersion" | "listProviderConfigVersions";

export function providerConfigVersionHandlers({
  service,
  cursors,
}: Dependencies): Pick<Handlers<typeof Rpc>, VersionMethods> {
  async function withState({ sql, tenantId }: Context, version: ProviderConfigVersion) {
    return fromVersion(version, (await configVersionStore(sql).findActive(tenantId, version.configId))?.version);
  }

  return {
    async createProviderConfigVersion(context, { id, scopeSet, settingSet, manifestVersion, message }) {
      const change = { scopes: scopeSet?.scopes, settings: settingSet?.settings, manifestVersion };
      const staged = await service.stageVersion(context, id, change, message);
      const providerConfigVersion = await withState(context, staged);
      return create(CreateProviderConfigVersionResponseSchema, { providerConfigVersion });
    },

    async getProviderConfigVersion(context, { id, version }) {
      const config = await service.getProviderConfig(context, id);
      const found = await configVersionStore(context.sql).find(context.tenantId, config.id, version);
      if (found === undefined) throw notFound("provider config version");
      const providerConfigVersion = await withState(context, found);
      return create(GetProviderConfigVersionResponseSchema, { providerConfigVersion });
    },

    async listProviderConfigVersions(context, request) {
      const { tenantId, operation, sql } = context;
      const config = await service.getProviderConfig(context, request.id);
      const store = configVersionStore(sql);
      const [page, active] = await Promise.all([
        readPage(
          cursors,
          request,
          { tenantId, operation: operation.id, filter: [config.id] },
          ({ version }: ProviderConfigVersion) => String(version),
          (wanted) => store.list(tenantId, config.id, wanted),
        ),
        store.findActive(tenantId, config.id),
      ]);
      const providerConfigVersions = page.items.map((each) => fromVersion(each, active?.version));
      return create(ListProviderConfigVersionsResponseSchema, { ...page, providerConfigVersions });
    },
  };
}

function fromVersion(version: ProviderConfigVersion, active: number | undefined): ProviderConfigVersionMessage {
  const { configId, digest, origin, message, createdBy, createdAt, content } = version;
  return create(ProviderConfigVersionSchema, {
    ...{ providerConfigId: configId, version: version.version, sha256: digest, active: version.version === active },
    ...{ origin, message, createdBy, createdAt: timestampFromDate(createdAt), content },
  });
}
