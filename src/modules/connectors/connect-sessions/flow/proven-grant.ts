import type { Grant } from "../../connections/index.ts";

/** Access that a provider has confirmed, without what the session adds. */
export type ProvenGrant = Omit<Grant, "connectionId" | "name" | "endUser">;
