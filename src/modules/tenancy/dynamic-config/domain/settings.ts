interface Described {
  readonly key: string;
  readonly description: string;
}

interface BooleanSetting extends Described {
  readonly type: "boolean";
  readonly default: boolean;
}

interface IntegerSetting extends Described {
  readonly type: "integer";
  readonly default: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** A setting that a tenant may change. */
export type DynamicSetting = BooleanSetting | IntegerSetting;

/** What a setting can hold. */
export type SettingValue = DynamicSetting["default"];

/** Every setting that a tenant may change, in the order of their keys. */
export const dynamicSettings = [
  {
    key: "api.max_concurrent_requests_per_tenant",
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description:
      "How many calls of this tenant run at once on a node. 0 leaves it to the instance; it can only lower the instance's own limit.",
  },
  {
    key: "events.retention_days",
    type: "integer",
    default: 30,
    minimum: 1,
    maximum: 365,
    description: "How long this tenant's events are kept.",
  },
  {
    key: "idempotency.required",
    type: "boolean",
    default: false,
    description: "Whether every mutating call of this tenant must carry an Idempotency-Key.",
  },
  {
    key: "ratelimit.tenant_rps",
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description:
      "Tokens a second for this tenant. 0 leaves it to the instance; it can only lower the instance's own limit.",
  },
] as const satisfies readonly DynamicSetting[];

/** The key of a setting that a tenant may change. */
export type DynamicKey = (typeof dynamicSettings)[number]["key"];

/** The settings with the instance's own values as their defaults, where it has any. */
export function settingsWith(instance: Readonly<Partial<Record<DynamicKey, SettingValue>>>): readonly DynamicSetting[] {
  return dynamicSettings.map(
    (setting) => ({ ...setting, default: instance[setting.key] ?? setting.default }) as DynamicSetting,
  );
}

/** What is wrong with a value; undefined when nothing is. */
export function fault(setting: DynamicSetting, value: unknown): { rule: string; message: string } | undefined {
  switch (setting.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : { rule: "type", message: "must be true or false" };
    case "integer": {
      if (!Number.isSafeInteger(value)) return { rule: "type", message: "must be a whole number" };
      const { minimum, maximum } = setting;
      const within = (value as number) >= minimum && (value as number) <= maximum;
      return within ? undefined : { rule: "range", message: `must be from ${minimum} to ${maximum}` };
    }
  }
}
