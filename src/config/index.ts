/** Settings: every key with its type, default and meaning, and how they are resolved. */
export { isLoopback, keyFormat } from "./cross-check.ts";
export { loadConfig } from "./load.ts";
export { ConfigError, type LoadedConfig, type Source } from "./loaded.ts";
export { openSettings } from "./open-settings.ts";
export { environmentName, type Setting } from "./setting.ts";
export { type Config, type SettingKey, settings } from "./settings.ts";
