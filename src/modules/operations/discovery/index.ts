import { type DiscoveryParts, discoveryHandlers } from "./handler.ts";

export type { CapabilityMode, CapabilitySource, Posture } from "./domain/capability.ts";
export type { DiscoveryParts };

export function createDiscovery(parts: DiscoveryParts) {
  return { handlers: discoveryHandlers(parts) };
}
