import type { Config, SettingKey } from "../../config/index.ts";
import { type ProcessPlace, shareOf } from "../../platform/process-share/process-share.ts";

type NumberKey = { [K in SettingKey]: Config[K] extends number ? K : never }[SettingKey];

interface DividedLimit {
  /** The least that a process works with. */
  readonly minimum?: number;
  /** Whether the limit is divided with these settings. */
  readonly isDivided?: (config: Config) => boolean;
}

const countedInMemory = (config: Config) => config["cache.backend"] === "memory";

/** The limits of a node that its processes divide among themselves. docs/guides/operate.md lists them, with those without a setting. */
export const dividedLimits: Readonly<Partial<Record<NumberKey, DividedLimit>>> = {
  "server.max_connections": {},
  "server.max_connections_per_address": {},
  "database.max_connections": { minimum: 3 },
  "api.max_concurrent_requests": {},
  "api.max_concurrent_requests_per_tenant": {},
  "ratelimit.global_rps": { isDivided: countedInMemory },
  "ratelimit.tenant_rps": { isDivided: countedInMemory },
};

/** The settings of one process, with its shares of the limits. A limit of 0 means that there is none. */
export function divideLimits(config: Config, place: ProcessPlace): Config {
  const shares = Object.entries(dividedLimits)
    .filter(([key, { isDivided = () => true }]) => config[key as NumberKey] > 0 && isDivided(config))
    .map(([key, { minimum }]) => [key, shareOf(config[key as NumberKey], place, minimum)]);
  return { ...config, ...Object.fromEntries(shares) };
}
