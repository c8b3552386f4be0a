import type { Config, SettingKey } from "./settings.ts";

/** Where a value came from. */
export type Source = "default" | "file" | "environment" | "command line" | "security profile";

/** The settings with the source of each. */
export interface LoadedConfig {
  /** The settings file; undefined when there is none. */
  readonly file?: string | undefined;
  readonly config: Config;
  readonly sources: Readonly<Record<SettingKey, Source>>;
}

/** Settings that stop the start: one problem a line, each beginning with the key that it is about. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const list = typeof problems === "string" ? [problems] : problems;
    super(list.join("\n"), options);
    this.problems = list;
  }
}
