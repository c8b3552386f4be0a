import { discoveryHandlers } from "./handler.ts";
import { createDiscoveryService, type DiscoveryServiceParts } from "./service.ts";

export type { CapabilityMode, CapabilitySource, Posture } from "./domain/capability.ts";

export interface DiscoveryParts extends DiscoveryServiceParts {
  readonly apiVersion: string;
}

export function createDiscovery({ apiVersion, ...parts }: DiscoveryParts) {
  return { handlers: discoveryHandlers(createDiscoveryService(parts), apiVersion) };
}
