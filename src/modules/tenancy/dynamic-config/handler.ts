import type { Value } from "@bufbuild/protobuf/wkt";
import { Document } from "yaml";
import type { ConfigService as Rpc } from "../../../../gen/service/api/config_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { pageOf } from "../../../platform/paging/index.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import { type ConfigValue, toNestedObject } from "./domain/config-value.ts";
import type { ConfigService } from "./service.ts";

const configKey = (value: ConfigValue) => value.key;

export function configHandlers(service: ConfigService): Handlers<typeof Rpc> {
  return {
    async getConfigSchema() {
      const { enabled, settings } = service.getConfigSchema();
      const described = settings.map((setting) => ({ ...setting, defaultValue: setting.default, allowedValues: [] }));
      return { enabled, settings: described };
    },

    async listConfigValues(context, request) {
      const page = await context.page(
        "configValues",
        request,
        [],
        async (wanted) => pageOf(await service.listConfigValues(context), configKey, wanted),
        configKey,
      );
      return { ...page, configValues: page.configValues.map(fromConfigValue) };
    },

    async getConfigValue(context, { key }) {
      return { configValue: fromConfigValue(await service.getConfigValue(context, key)) };
    },

    async setConfigValue(context, { key, value, recordVersion }) {
      const set = await service.setConfigValue(context, key, toValue(value), expectedVersion(recordVersion));
      return { configValue: fromConfigValue(set) };
    },

    async resetConfigValue(context, { key }) {
      return { configValue: fromConfigValue(await service.resetConfigValue(context, key)) };
    },

    async exportConfig(context) {
      const data = toYaml(context.tenantId, await service.listConfigValues(context));
      return { document: { contentType: "application/yaml", data: Buffer.from(data, "utf8"), extensions: [] } };
    },
  };
}

function toYaml(tenantId: string, values: readonly ConfigValue[]): string {
  const document = new Document(toNestedObject(values));
  document.commentBefore =
    ` The settings that the tenant ${tenantId} can change, with their effective values.\n` +
    " Settings that the tenant has not set have their defaults.";
  return document.toString();
}

// Not toJson: it throws on some values of binary requests, and maps null to its enum number.
function toValue(value: Value | undefined): unknown {
  return value?.kind.case === "nullValue" ? null : value?.kind.value;
}

const fromConfigValue = ({ key, value, stored }: ConfigValue) => ({
  ...{ key, value, overridden: stored !== undefined, updatedAt: stored?.updatedAt },
  ...{ updatedBy: stored?.updatedBy ?? "", recordVersion: stored?.recordVersion ?? 0 },
});
