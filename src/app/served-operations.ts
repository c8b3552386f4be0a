import type { Plane } from "../chain/call.ts";
import type { Config } from "../config/index.ts";
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
