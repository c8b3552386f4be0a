import { create } from "@bufbuild/protobuf";
import { type PoolConfig as PoolConfigMessage, PoolConfigSchema } from "../../../../gen/service/api/pool_pb.ts";
import type { PoolSettings } from "./domain/config-settings.ts";
import type { PoolConfig } from "./domain/pool-config.ts";

/** Converts a message to settings. Field names are equal on both sides; an empty list sets nothing. */
export function toSettings(message: PoolConfigMessage): PoolSettings {
  const { anomaly, ...settings } = plain(message) as PoolSettings;
  if (anomaly?.actions === undefined) return { ...settings, ...(anomaly && { anomaly }) };
  const actions = (anomaly.actions as readonly string[]).map((action) => action.replace("-", "_"));
  return { ...settings, anomaly: { ...anomaly, actions: actions as PoolConfig["anomaly"]["actions"] } };
}

/** Converts settings to a message with only their fields set. */
export function fromSettings({ anomaly, ...settings }: PoolSettings): PoolConfigMessage {
  const actions = anomaly?.actions?.map((action) => action.replace("_", "-"));
  const sections = anomaly && { anomaly: { ...anomaly, ...(actions && { actions }) } };
  return create(PoolConfigSchema, { ...settings, ...sections } as never);
}

/** Keeps the fields that are set, recursively. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const isSet = field !== undefined && !(Array.isArray(field) && field.length === 0);
      return name.startsWith("$") || !isSet ? [] : [[name, plain(field)]];
    }),
  );
}
