/**
 * Dynamic configuration: settings that a tenant can change at runtime.
 *
 * Effective value: the value that the tenant has set, else the default.
 * Instance values: the operator's settings, which replace the built-in defaults.
 */
import { configHandlers } from "./handler.ts";
import { type ConfigParts, createConfigService } from "./service.ts";

export function createDynamicConfig(parts: ConfigParts) {
  return { handlers: configHandlers(createConfigService(parts)) };
}
