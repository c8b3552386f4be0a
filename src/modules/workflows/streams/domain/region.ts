import { fail } from "../../../../errors/index.ts";
import type { Pins } from "./pins.ts";

/**
 * A node's use of a stream. define: shows its definition. read: sends payloads to a client. acknowledge: stores how far a
 * consumer has read. remove_consumer: forgets that. write: appends or closes. hold: sets or releases a legal hold. upload and
 * download: large objects.
 */
export type Access = "define" | "read" | "acknowledge" | "remove_consumer" | "write" | "hold" | "upload" | "download";

/** The regions whose nodes may do something with a stream. */
function regionsFor(access: Access, pins: Pins): readonly string[] {
  const holding = [pins.metadata_home, ...pins.metadata_replicas];
  switch (access) {
    case "define":
      return holding;
    case "read":
      return holding.filter((region) => pins.egress_regions.includes(region));
    case "acknowledge":
    case "remove_consumer":
    case "write":
    case "hold":
      return [pins.metadata_home];
    case "upload":
      return pins.object_regions;
    case "download":
      return pins.object_regions.filter((region) => pins.egress_regions.includes(region));
  }
}

/** Who the pins allow an access; empty if only the scopes decide. */
export function pinnedCallers(access: Access, { authorization }: Pins): readonly string[] {
  switch (access) {
    case "define":
    case "hold":
      return [];
    case "read":
    case "acknowledge":
    case "download":
      return authorization.readers;
    case "remove_consumer":
      // Consumers leave, and writers remove consumers that hold them up.
      return authorization.readers.length === 0 || authorization.writers.length === 0
        ? []
        : [...authorization.readers, ...authorization.writers];
    case "write":
    case "upload":
      return authorization.writers;
  }
}

/** Whether nodes of a region may log about a stream. */
export function mayLog({ log_region }: Pins, ownRegion: string): boolean {
  return log_region === ownRegion;
}

/** The region of nodes whose operator names none, as `server.region` says. */
const unnamedRegion = "local";

/**
 * Whether payloads may become data of the stream's run by themselves. Nodes of all regions return a run, to all callers who may
 * read runs.
 */
export function mayEnterRun({ metadata_home, authorization }: Pins): boolean {
  return metadata_home === unnamedRegion && authorization.readers.length === 0;
}

/** Throws if the region of this node is not pinned for an access. */
export function requireRegion(access: Access, pins: Pins, ownRegion: string): void {
  const allowed = regionsFor(access, pins);
  if (allowed.includes(ownRegion)) return;
  throw fail("REGION_NOT_ALLOWED", {
    public: `The stream is pinned to other regions than ${ownRegion}, the region of this node. Allowed: ${allowed.join(", ") || "none"}.`,
    extra: { region: ownRegion, allowed_regions: allowed },
  });
}
