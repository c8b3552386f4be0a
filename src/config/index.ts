/** Settings: every key with its type, default and description, and how values are resolved and validated. */
export { isLoopback, keyFormat } from "./cross-check.ts";
export { insecureSettings } from "./insecure-settings.ts";
export { loadConfig } from "./load.ts";
export { ConfigError, type LoadedConfig, type Source } from "./loaded-config.ts";
export { environmentName, type Setting } from "./setting.ts";
export { type Config, type SettingKey, settings } from "./settings.ts";
