import type { DynamicSetting, SettingValue } from "./settings.ts";

/** A value that a tenant has set. */
export interface StoredValue {
  readonly key: string;
  readonly value: SettingValue;
  readonly updatedBy: string;
  readonly updatedAt: Date;
  readonly recordVersion: number;
}

/** The value of a setting that is in force for a tenant. */
export interface ConfigValue {
  readonly key: string;
  readonly value: SettingValue;
  /** What the tenant set; undefined when the default is in force. */
  readonly stored: StoredValue | undefined;
}

/** The value in force: what the tenant has set, or the default. */
export function inForce(setting: DynamicSetting, stored: StoredValue | undefined): ConfigValue {
  return { key: setting.key, value: stored?.value ?? setting.default, stored };
}

/** Values by dotted key, as one object that has a level for each part of the keys. */
export function nested(values: readonly ConfigValue[]): Record<string, unknown> {
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
