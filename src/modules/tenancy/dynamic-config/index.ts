/**
 * Dynamic configuration: settings that a tenant can change at runtime.
 *
 * Effective value: the value that the tenant has set, else the default.
 * Instance values: the operator's settings, which replace the built-in defaults.
 */
import type { Cursors } from "../../../platform/cursor/index.ts";
import { configHandlers } from "./handler.ts";
import { type ConfigParts, createConfigService } from "./service.ts";

export function createDynamicConfig({ cursors, ...parts }: ConfigParts & { readonly cursors: Cursors }) {
  return { handlers: configHandlers(createConfigService(parts), cursors) };
}
