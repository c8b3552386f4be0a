import assert from "node:assert/strict";
import { test } from "node:test";
import { toEffectiveValue, toNestedObject } from "./config-value.ts";
import { type DynamicSetting, dynamicSettings, findViolation, withInstanceDefaults } from "./settings.ts";

const settingOf = (key: string): DynamicSetting => dynamicSettings.find((setting) => setting.key === key)!;

test("settings are unique and ordered by key, and no key is a prefix level of another", () => {
  const keys = dynamicSettings.map((setting) => setting.key);
  assert.deepEqual(keys, [...new Set(keys)].sort());
  for (const key of keys) assert.ok(!keys.some((other) => other.startsWith(`${key}.`)), key);
});

test("every default is a valid value", () => {
  for (const setting of dynamicSettings) assert.equal(findViolation(setting, setting.default), undefined, setting.key);
});

test("a value of the wrong type or outside its range is a violation", () => {
  const table = [
    ["events.retention_days", 1, undefined],
    ["events.retention_days", 365, undefined],
    ["events.retention_days", 0, "range"],
    ["events.retention_days", 366, "range"],
    ["events.retention_days", 1.5, "type"],
    ["events.retention_days", "30", "type"],
    ["events.retention_days", null, "type"],
    ["events.retention_days", 2 ** 60, "type"],
    ["ratelimit.tenant_rps", 0, undefined],
    ["ratelimit.tenant_rps", -1, "range"],
    ["idempotency.required", true, undefined],
    ["idempotency.required", 1, "type"],
    ["idempotency.required", "true", "type"],
    ["idempotency.required", undefined, "type"],
  ] as const;
  for (const [key, value, rule] of table) {
    assert.equal(findViolation(settingOf(key), value)?.rule, rule, `${key} ${value}`);
  }
});

test("the instance's value is effective until the tenant sets one, including false", () => {
  const settings = withInstanceDefaults({ "events.retention_days": 90, "idempotency.required": true });
  const [retention, required] = ["events.retention_days", "idempotency.required"].map(
    (key) => settings.find((setting) => setting.key === key)!,
  );
  assert.equal(toEffectiveValue(retention!, undefined).value, 90);
  const stored = { key: "idempotency.required", updatedBy: "a", updatedAt: new Date(), recordVersion: 1 };
  assert.equal(toEffectiveValue(required!, { ...stored, value: false }).value, false);
});

test("dotted keys become nested levels, and keys with a common prefix share them", () => {
  const value = (key: string, it: number) => ({ key, value: it, stored: undefined });
  assert.deepEqual(toNestedObject([value("a.b.c", 1), value("a.b.d", 2), value("a.e", 3), value("f", 4)]), {
    a: { b: { c: 1, d: 2 }, e: 3 },
    f: 4,
  });
});
