import type { TenantId } from "../../../../platform/access/index.ts";
import type { LeaseLimits } from "../../admission/index.ts";

/** A worker's request for items. */
export interface LeaseRequest {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** The recipient whose items are requested; "" for all recipients of the pool. */
  readonly recipientId: string;
  /** The pool's throttle and concurrency limits; undefined when there are none. */
  readonly limits: LeaseLimits | undefined;
  readonly environmentId: string;
  /** The recipients that can receive work, for a worker that serves the whole pool. */
  readonly recipientIds: readonly string[];
  /** Whether such a worker also gets items without a recipient. */
  readonly unassigned: boolean;
  /** Whether the request may also take items without a recipient that are offered to it. */
  readonly offered?: boolean;
  /** pull: workers fetch the items. push: the items are sent to the recipient. */
  readonly delivery: "pull" | "push";
  /** The most items the recipient may hold at a time; 0 for no limit. */
  readonly capacity: number;
  /** For a worker that serves the whole pool: the capacities of its recipients, if some have one. */
  readonly capacities?: Capacities | undefined;
  /** Whether a worker of a pool without recipients leaves out the items with requirements, which nobody fulfils. */
  readonly plainOnly?: boolean | undefined;
  readonly leaseS: number;
  readonly ageingMs: number;
  /** The most items to lease; 0 for a recipient that currently gets none. */
  readonly max: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Whether the pool allows that items are leased before a worker requests them. */
  readonly leaseAhead?: boolean;
  /** Called with the duration of each wait. */
  readonly onWaited?: (ms: number) => void;
  /** Rejects when the worker has lost its access. Called before and after every scan that follows a wait. */
  readonly recheckAccess?: () => Promise<void>;
}

/** The most items that recipients may hold at a time; recipients without a limit are left out. */
export type Capacities = ReadonlyMap<string, number>;

/** The most recipients that one lease statement serves. */
export const recipientsPerScan = 64;

/** Whether the request is for recipients with limited capacity. */
export function isBounded({ recipientId, capacity, capacities }: LeaseRequest): boolean {
  return recipientId === "" ? capacities !== undefined : capacity > 0;
}

/** Whether a worker serves more recipients than one statement can scan. */
export function needsManyScans({ recipientId, recipientIds }: LeaseRequest): boolean {
  return recipientId === "" && recipientIds.length > recipientsPerScan;
}

/** Whether a worker may receive an item of this recipient; "" is an item without a recipient. */
export function servesRecipient(request: LeaseRequest, recipientId: string): boolean {
  if (request.recipientId !== "") return recipientId === request.recipientId;
  return recipientId === "" ? request.unassigned : request.recipientIds.includes(recipientId);
}
