import type { Plane } from "../chain/call.ts";
import { type Config, ConfigError } from "../config/index.ts";
import type { Operation } from "../definitions/index.ts";

/** Services that exist only while a setting is true. Without it, their paths are unknown to everybody. */
const optionalServices = {
  "service.api.AnalyticsService": "analytics.enabled",
} as const satisfies Readonly<Record<string, keyof Config>>;

/** The operations that a plane of this node serves. */
export function servedOperations(all: readonly Operation[], plane: Plane, config: Config): readonly Operation[] {
  return all.filter((operation) => {
    const service = operation.service.typeName;
    if (service in optionalServices && !config[optionalServices[service as keyof typeof optionalServices]])
      return false;
    return plane === "internal" || !operation.governance.internalOnly;
  });
}

/** Refuses removal dates of operations that do not exist or are not deprecated. */
export function checkSunsetDates(all: readonly Operation[], config: Config): void {
  const deprecated = all.filter(({ governance }) => governance.deprecation !== undefined).map(({ id }) => id);
  const unknown = Object.keys(config["api.sunset_dates"]).filter((id) => !deprecated.includes(id));
  if (unknown.length === 0) return;
  const remedy = `use one of ${deprecated.join(", ")}`;
  throw new ConfigError(unknown.map((id) => `api.sunset_dates: ${id} is not a deprecated operation: ${remedy}`));
}
