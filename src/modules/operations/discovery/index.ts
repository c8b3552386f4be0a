/**
 * Discovery: the capabilities of this instance and their state.
 *
 * Capability: a feature of the instance. Mode: its current state. Posture: the mode with a reason. Hidden: never shown to
 * callers. Source: a capability with the function that determines its posture.
 */
import type { Cursors } from "../../../platform/cursor/index.ts";
import { discoveryHandlers } from "./handler.ts";
import { createDiscoveryService, type DiscoveryServiceParts } from "./service.ts";

export type { CapabilityMode, CapabilitySource, Posture } from "./domain/capability.ts";

export interface DiscoveryParts extends DiscoveryServiceParts {
  readonly cursors: Cursors;
  readonly apiVersion: string;
}

export function createDiscovery({ cursors, apiVersion, ...parts }: DiscoveryParts) {
  return { handlers: discoveryHandlers(createDiscoveryService(parts), cursors, apiVersion) };
}
