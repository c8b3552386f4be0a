import type { Config, SettingKey } from "./settings.ts";

/** Where a value came from. */
export type Source = "default" | "file" | "environment" | "command line" | "security profile";

/** The settings with the source of each. */
export interface LoadedConfig {
  readonly config: Config;
  readonly sources: Readonly<Record<SettingKey, Source>>;
}

/** A setting that stops the start; the message names its key. */
export class ConfigError extends Error {}
