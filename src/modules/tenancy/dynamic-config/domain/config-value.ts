import type { DynamicSetting, SettingValue } from "./settings.ts";

/** A value that a tenant has set. */
export interface StoredValue {
  readonly key: string;
  readonly value: SettingValue;
  readonly updatedBy: string;
  readonly updatedAt: Date;
  readonly recordVersion: number;
}

/** The effective value of a setting for a tenant. */
export interface ConfigValue {
  readonly key: string;
  readonly value: SettingValue;
  /** The tenant's own value; undefined if the default is effective. */
  readonly stored: StoredValue | undefined;
}

/** Returns the effective value: the tenant's own, else the default. */
export function toEffectiveValue(setting: DynamicSetting, stored: StoredValue | undefined): ConfigValue {
  return { key: setting.key, value: stored?.value ?? setting.default, stored };
}

/** Converts values with dotted keys into one nested object. */
export function toNestedObject(values: readonly ConfigValue[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { key, value } of values) {
    const path = key.split(".");
    let level = root;
    for (const part of path.slice(0, -1)) {
      level[part] ??= {};
      level = level[part] as Record<string, unknown>;
    }
    level[path.at(-1)!] = value;
  }
  return root;
}
