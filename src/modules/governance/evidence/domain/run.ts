import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { EnvironmentKind } from "./requirements.ts";
import { hasEnded, type RunStatus } from "./run-states.ts";
import type { ReceiptType, Subject } from "./subject.ts";

/** How a run acts. A dry run changes nothing outside. */
export type RunMode = "sandbox" | "dry_run";

/** A run: a worker that collects evidence, under a lease. */
export interface Run extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly packId: string;
  readonly environmentId: string;
  readonly environmentKey: string;
  /** The promotion that the pack was attached to at the start; empty if none. */
  readonly candidateId: string;
  readonly type: ReceiptType;
  readonly mode: RunMode;
  /** Pinned at the start. */
  readonly subjects: readonly Subject[];
  readonly status: RunStatus;
  /** How often the run was claimed. */
  readonly fence: number;
  /** The SHA-256 of the newest token; empty if no token is valid. */
  readonly tokenDigest: string;
  readonly leaseS: number;
  readonly leaseUntil: Date | null;
  readonly deadlineAt: Date;
  readonly endedAt: Date | null;
  readonly reason: string;
  readonly receiptId: string;
}

/** The seconds of a lease if the caller does not say. */
export const leaseDefaultS = 60;

/** The seconds until the deadline if the caller does not say. */
export const deadlineDefaultS = 3600;

/** The largest number of runs of a pack that have not ended. */
export const openRunsMax = 20;

/** The status at a time: a lease and a deadline end without anybody writing it. */
export function statusAt({ status, leaseUntil, deadlineAt }: Run, nowMs: number): RunStatus {
  if (hasEnded(status)) return status;
  if (nowMs >= deadlineAt.getTime()) return "deadline_exceeded";
  return status === "running" && nowMs >= leaseUntil!.getTime() ? "lease_expired" : status;
}

/** When a lease that begins now ends. It never passes the deadline. */
export function leaseEnd({ leaseS, deadlineAt }: Pick<Run, "leaseS" | "deadlineAt">, nowMs: number): Date {
  return new Date(Math.min(nowMs + leaseS * 1000, deadlineAt.getTime()));
}

/** The modes that an environment allows: nothing acts on a live environment. */
const allowedModes: Readonly<Record<EnvironmentKind, readonly RunMode[]>> = {
  live: ["dry_run"],
  sandbox: ["sandbox", "dry_run"],
};

/** Throws FAILED_PRECONDITION if an environment does not allow a mode. */
export function requireMode(environment: EnvironmentKind, mode: RunMode): void {
  const allowed = allowedModes[environment];
  if (allowed.includes(mode)) return;
  throw fail("FAILED_PRECONDITION", {
    public: `A ${environment} environment does not allow a run in the mode ${mode}. Allowed: ${allowed.join(", ")}.`,
    extra: { allowed_modes: allowed },
  });
}
