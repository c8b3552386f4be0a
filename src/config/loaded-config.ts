import type { Config, SettingKey } from "./settings.ts";

/** Where a setting's value comes from. */
export type Source = "default" | "file" | "environment" | "command line" | "security profile";

/** The resolved settings with the source of each. */
export interface LoadedConfig {
  /** The path of the settings file; undefined without one. */
  readonly file?: string | undefined;
  readonly config: Config;
  readonly sources: Readonly<Record<SettingKey, Source>>;
}

/** Invalid settings that prevent a start: one problem per line, each starting with the setting's key. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const list = typeof problems === "string" ? [problems] : problems;
    super(list.join("\n"), options);
    this.problems = list;
  }
}
