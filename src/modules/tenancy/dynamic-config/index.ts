/**
 * Dynamic configuration: settings that a tenant may change while the service runs.
 *
 * in force: the value that counts, which is what the tenant has set, or else the default.
 * instance: the operator's own values, which stand in for the defaults.
 */
import type { Cursors } from "../../../platform/cursor/index.ts";
import { configHandlers } from "./handler.ts";
import { type ConfigParts, createConfigService } from "./service.ts";

/** Makes the module. */
export function createDynamicConfig({ cursors, ...parts }: ConfigParts & { readonly cursors: Cursors }) {
  return { handlers: configHandlers(createConfigService(parts), cursors) };
}
