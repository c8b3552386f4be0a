import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { notFound, type TenantChanges, updateRefusal } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { type ConfigValue, toEffectiveValue } from "./domain/config-value.ts";
import {
  type DynamicKey,
  type DynamicSetting,
  findViolation,
  type SettingValue,
  withInstanceDefaults,
} from "./domain/settings.ts";
import { configStore } from "./store.ts";

export interface ConfigParts {
  /** Whether tenants can change settings (`dynamic_config.enabled`). */
  readonly enabled: boolean;
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  /** The operator's values, which are effective if a tenant sets none. */
  readonly instance?: Readonly<Partial<Record<DynamicKey, SettingValue>>>;
}

export type ConfigService = ReturnType<typeof createConfigService>;

export function createConfigService({ enabled, changes, events, instance = {} }: ConfigParts) {
  const settings = withInstanceDefaults(instance);

  function requireEnabled(): void {
    if (enabled) return;
    throw fail("FEATURE_DISABLED", {
      public: "Dynamic configuration is disabled. The operator can enable it with dynamic_config.enabled=true.",
    });
  }

  function settingOf(key: string): DynamicSetting {
    const setting = settings.find((each) => each.key === key);
    if (setting === undefined) throw notFound("setting");
    return setting;
  }

  async function changed(context: Context, type: "config.changed" | "config.reset", key: string): Promise<void> {
    await changes.invalidate(context);
    await events.record(context, type, key, { key });
  }

  return {
    getConfigSchema: () => ({ enabled, settings }),

    /** Returns every setting with its effective value, ordered by key. */
    async listConfigValues({ sql, tenantId }: Context): Promise<ConfigValue[]> {
      requireEnabled();
      const stored = await configStore(sql).findAll(
        tenantId,
        settings.map((setting) => setting.key),
      );
      const byKey = new Map(stored.map((each) => [each.key, each]));
      return settings.map((setting) => toEffectiveValue(setting, byKey.get(setting.key)));
    },

    async getConfigValue({ sql, tenantId }: Context, key: string): Promise<ConfigValue> {
      requireEnabled();
      return toEffectiveValue(settingOf(key), await configStore(sql).find(tenantId, key));
    },

    async setConfigValue(context: Context, key: string, value: unknown, expectedVersion: number | undefined) {
      requireEnabled();
      const setting = settingOf(key);
      const violation = findViolation(setting, value);
      if (violation !== undefined) throw invalid("value", violation.rule, violation.message);
      const { sql, tenantId, principal, nowMs } = context;
      const newValue = {
        key,
        value: value as SettingValue,
        updatedBy: principal.subject,
        updatedAt: new Date(nowMs),
      };
      const store = configStore(sql);
      const stored = await store.set(tenantId, newValue, expectedVersion);
      if (stored === undefined) {
        throw updateRefusal((await store.find(tenantId, key)) ?? { recordVersion: 0 }, "setting");
      }
      await changed(context, "config.changed", key);
      return toEffectiveValue(setting, stored);
    },

    async resetConfigValue(context: Context, key: string): Promise<ConfigValue> {
      requireEnabled();
      const setting = settingOf(key);
      // A reset of a setting that is not set changes nothing.
      if (await configStore(context.sql).remove(context.tenantId, key)) await changed(context, "config.reset", key);
      return toEffectiveValue(setting, undefined);
    },
  };
}
