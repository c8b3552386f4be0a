interface SettingDescription {
  readonly key: string;
  readonly description: string;
}

interface BooleanSetting extends SettingDescription {
  readonly type: "boolean";
  readonly default: boolean;
}

interface IntegerSetting extends SettingDescription {
  readonly type: "integer";
  readonly default: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** A setting that a tenant can change. */
export type DynamicSetting = BooleanSetting | IntegerSetting;

export type SettingValue = DynamicSetting["default"];

/** Every setting that a tenant can change, ordered by key. */
export const dynamicSettings = [
  {
    key: "api.max_concurrent_requests_per_tenant",
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description:
      "Maximum number of concurrent calls of this tenant per node. 0: the instance's limit. A value can only lower that limit.",
  },
  {
    key: "events.retention_days",
    type: "integer",
    default: 30,
    minimum: 1,
    maximum: 365,
    description: "Days that this tenant's events are stored.",
  },
  {
    key: "idempotency.required",
    type: "boolean",
    default: false,
    description: "Whether every mutating call of this tenant must have an Idempotency-Key header.",
  },
  {
    key: "notification.allow_unknown_workflows",
    type: "boolean",
    default: false,
    description:
      "Whether this tenant's triggers and preferences can have a workflow_key that no notification workflow has. The content of such a trigger comes from its overrides.",
  },
  {
    key: "ratelimit.tenant_rps",
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description:
      "Rate limit of this tenant, in tokens per second. 0: the instance's limit. A value can only lower that limit.",
  },
] as const satisfies readonly DynamicSetting[];

/** The key of a setting that a tenant can change. */
export type DynamicKey = (typeof dynamicSettings)[number]["key"];

/** Returns the settings with the instance's values as their defaults. */
export function withInstanceDefaults(
  instance: Readonly<Partial<Record<DynamicKey, SettingValue>>>,
): readonly DynamicSetting[] {
  return dynamicSettings.map(
    (setting) => ({ ...setting, default: instance[setting.key] ?? setting.default }) as DynamicSetting,
  );
}

/** Returns the rule that a value violates; undefined if it is valid. */
export function findViolation(setting: DynamicSetting, value: unknown): { rule: string; message: string } | undefined {
  switch (setting.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : { rule: "type", message: "must be true or false" };
    case "integer": {
      if (!Number.isSafeInteger(value))
        return { rule: "type", message: `must be a whole number (for example: ${setting.default})` };
      const { minimum, maximum } = setting;
      const within = (value as number) >= minimum && (value as number) <= maximum;
      return within ? undefined : { rule: "range", message: `must be from ${minimum} to ${maximum}` };
    }
  }
}
