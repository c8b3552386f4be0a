import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { notFound, type TenantChanges, updateRefusal } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { type ConfigValue, inForce } from "./domain/config-value.ts";
import { type DynamicKey, type DynamicSetting, fault, type SettingValue, settingsWith } from "./domain/settings.ts";
import { configStore } from "./store.ts";

/** What the use cases stand on. */
export interface ConfigParts {
  /** Whether tenants may change anything: the setting dynamic_config.enabled. */
  readonly enabled: boolean;
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  /** The instance's own values, which are in force where a tenant sets none. */
  readonly instance?: Readonly<Partial<Record<DynamicKey, SettingValue>>>;
}

/** The use cases of dynamic configuration. */
export type ConfigService = ReturnType<typeof createConfigService>;

/** Makes the use cases of dynamic configuration. */
export function createConfigService({ enabled, changes, events, instance = {} }: ConfigParts) {
  const settings = settingsWith(instance);

  function refuseDisabled(): void {
    if (enabled) return;
    throw fail("FEATURE_DISABLED", {
      public: "Dynamic configuration is switched off by the setting dynamic_config.enabled.",
    });
  }

  function settingOf(key: string): DynamicSetting {
    const setting = settings.find((each) => each.key === key);
    if (setting === undefined) throw notFound("setting");
    return setting;
  }

  async function changed(context: Context, type: "config.changed" | "config.reset", key: string): Promise<void> {
    await changes.record(context.sql, context.tenantId);
    context.afterCommit(() => changes.published(context.tenantId));
    await events.record(context, type, key, { key });
  }

  return {
    getConfigSchema: () => ({ enabled, settings }),

    /** Every setting with the value in force, in the order of their keys. */
    async listConfigValues({ sql, tenantId }: Context): Promise<ConfigValue[]> {
      refuseDisabled();
      const stored = await configStore(sql).findAll(
        tenantId,
        settings.map((setting) => setting.key),
      );
      const byKey = new Map(stored.map((each) => [each.key, each]));
      return settings.map((setting) => inForce(setting, byKey.get(setting.key)));
    },

    async setConfigValue(
      context: Context,
      key: string,
      value: unknown,
      expectedVersion: number | undefined,
    ): Promise<ConfigValue> {
      refuseDisabled();
      const setting = settingOf(key);
      const wrong = fault(setting, value);
      if (wrong !== undefined) throw invalid("value", wrong.rule, wrong.message);
      const { sql, tenantId, principal, nowMs } = context;
      const wanted = {
        key,
        value: value as SettingValue,
        updatedBy: principal.subject,
        updatedAt: new Date(nowMs),
      };
      const store = configStore(sql);
      const stored = await store.set(tenantId, wanted, expectedVersion);
      if (stored === undefined) {
        throw updateRefusal((await store.find(tenantId, key)) ?? { recordVersion: 0 }, "setting");
      }
      await changed(context, "config.changed", key);
      return inForce(setting, stored);
    },

    async resetConfigValue(context: Context, key: string): Promise<ConfigValue> {
      refuseDisabled();
      const setting = settingOf(key);
      // Resetting what is not set changes nothing.
      if (await configStore(context.sql).remove(context.tenantId, key)) await changed(context, "config.reset", key);
      return inForce(setting, undefined);
    },
  };
}
