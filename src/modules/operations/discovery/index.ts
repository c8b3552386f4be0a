/**
 * Discovery: what this instance offers, and in which state.
 *
 * capability: something that the instance can do. mode: how it stands right now. hidden: never shown to callers.
 * source: a capability together with the way to tell its mode.
 */
import type { Cursors } from "../../../platform/cursor/index.ts";
import { discoveryHandlers } from "./handler.ts";
import { createDiscoveryService, type DiscoveryServiceParts } from "./service.ts";

export type { CapabilityMode, CapabilitySource, Posture } from "./domain/capability.ts";

/** What discovery is built on. */
export interface DiscoveryParts extends DiscoveryServiceParts {
  readonly cursors: Cursors;
  readonly apiVersion: string;
}

/** Makes the module. */
export function createDiscovery({ cursors, apiVersion, ...parts }: DiscoveryParts) {
  return { handlers: discoveryHandlers(createDiscoveryService(parts), cursors, apiVersion) };
}
