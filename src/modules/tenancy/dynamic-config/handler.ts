import { create, fromJson } from "@bufbuild/protobuf";
import { timestampFromDate, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { Document } from "yaml";
import {
  type ConfigSetting,
  ConfigSettingSchema,
  type ConfigValue as ConfigValueMessage,
  ConfigValueSchema,
  ExportConfigResponseSchema,
  GetConfigSchemaResponseSchema,
  GetConfigValueResponseSchema,
  ListConfigValuesResponseSchema,
  ResetConfigValueResponseSchema,
  type ConfigService as Rpc,
  SetConfigValueResponseSchema,
} from "../../../../gen/service/api/config_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { pageOf, readPage } from "../../../platform/paging/index.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import { type ConfigValue, toNestedObject } from "./domain/config-value.ts";
import type { DynamicSetting } from "./domain/settings.ts";
import type { ConfigService } from "./service.ts";

const configKey = (value: ConfigValue) => value.key;

export function configHandlers(service: ConfigService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async getConfigSchema() {
      const { enabled, settings } = service.getConfigSchema();
      return create(GetConfigSchemaResponseSchema, { enabled, settings: settings.map(fromSetting) });
    },

    async listConfigValues(context, request) {
      const { tenantId, operation } = context;
      const page = await readPage(cursors, request, { tenantId, operation: operation.id }, configKey, async (wanted) =>
        pageOf(await service.listConfigValues(context), configKey, wanted),
      );
      return create(ListConfigValuesResponseSchema, { ...page, configValues: page.items.map(fromConfigValue) });
    },

    async getConfigValue(context, { key }) {
      const configValue = fromConfigValue(await service.getConfigValue(context, key));
      return create(GetConfigValueResponseSchema, { configValue });
    },

    async setConfigValue(context, { key, value, recordVersion }) {
      const set = await service.setConfigValue(context, key, toValue(value), expectedVersion(recordVersion));
      return create(SetConfigValueResponseSchema, { configValue: fromConfigValue(set) });
    },

    async resetConfigValue(context, request) {
      const reset = await service.resetConfigValue(context, request.key);
      return create(ResetConfigValueResponseSchema, { configValue: fromConfigValue(reset) });
    },

    async exportConfig(context) {
      const data = toYaml(context.tenantId, await service.listConfigValues(context));
      return create(ExportConfigResponseSchema, {
        document: { contentType: "application/yaml", data: Buffer.from(data, "utf8") },
      });
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

function fromSetting(setting: DynamicSetting): ConfigSetting {
  const { key, type, description } = setting;
  const range = setting.type === "integer" ? { minimum: setting.minimum, maximum: setting.maximum } : {};
  const defaultValue = fromJson(ValueSchema, setting.default);
  return create(ConfigSettingSchema, { key, type, description, defaultValue, ...range });
}

function fromConfigValue({ key, value, stored }: ConfigValue): ConfigValueMessage {
  return create(ConfigValueSchema, {
    key,
    value: fromJson(ValueSchema, value),
    overridden: stored !== undefined,
    ...(stored !== undefined && {
      updatedBy: stored.updatedBy,
      updatedAt: timestampFromDate(stored.updatedAt),
      recordVersion: BigInt(stored.recordVersion),
    }),
  });
}
