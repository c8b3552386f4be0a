import type { Plane } from "../../../chain/call.ts";
import type { Operation } from "../../../definitions/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import {
  type Capability,
  type CapabilityFilter,
  type CapabilitySource,
  matchesFilter,
  type Posture,
} from "./domain/capability.ts";

export interface DiscoveryServiceParts {
  readonly capabilities: readonly CapabilitySource[];
  /** The operations that are mounted on a plane. */
  readonly operationsOf: (plane: Plane) => readonly Operation[];
}

export type DiscoveryService = ReturnType<typeof createDiscoveryService>;

export function createDiscoveryService({ capabilities, operationsOf }: DiscoveryServiceParts) {
  const visible = capabilities
    .filter((source) => source.hidden !== true)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));

  /** Returns every visible capability with its current posture, ordered by id. */
  async function listCapabilityPostures(): Promise<Capability[]> {
    return Promise.all(visible.map(capabilityOf));
  }

  return {
    listCapabilityPostures,

    /** The operations of each service mounted on a plane, in the order of the definitions. */
    servicesOf: (plane: Plane) => Map.groupBy(operationsOf(plane), (operation) => operation.service),

    async listCapabilities(filter: CapabilityFilter): Promise<Capability[]> {
      return (await listCapabilityPostures()).filter((capability) => matchesFilter(filter, capability));
    },

    async getCapability(id: string): Promise<Capability> {
      const source = visible.find((each) => each.id === id);
      if (source === undefined) throw notFound("capability");
      return capabilityOf(source);
    },
  };
}

async function capabilityOf(source: CapabilitySource): Promise<Capability> {
  const { id, name, description, settings, dependencies, services } = source;
  return { id, name, description, settings, dependencies, services, ...(await postureOf(source)) };
}

async function postureOf(source: CapabilitySource): Promise<Posture> {
  try {
    return await source.mode();
  } catch {
    // A capability whose mode cannot be determined must not hide the others.
    return { mode: "degraded", reason: "its state cannot be determined" };
  }
}
