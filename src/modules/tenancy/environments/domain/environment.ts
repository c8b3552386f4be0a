import { productionKey, type TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** Whether an environment is live or a sandbox. */
export type Mode = "live" | "sandbox";

export type EnvironmentStatus = "active" | "disabled" | "deleted";

/** What the approval of a promotion needs. */
export interface PromotionPolicy {
  /** How many people must approve. */
  readonly approvals: number;
  /** Whether approvals by authors of the versions do not count. */
  readonly excludeAuthors: boolean;
}

export const defaultPromotionPolicy: PromotionPolicy = { approvals: 1, excludeAuthors: false };

/** A part of a tenant in which configuration and keys are valid. */
export interface Environment extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly mode: Mode;
  readonly status: EnvironmentStatus;
  readonly promotionPolicy: PromotionPolicy;
}

export type NewEnvironment = Pick<Environment, "key" | "name" | "mode">;

/** The fields that an update can change. */
export interface EnvironmentChange {
  readonly name?: string | undefined;
  readonly status?: EnvironmentStatus | undefined;
  readonly promotionPolicy?: PromotionPolicy | undefined;
}

/** Whether an environment's status can change: production stays active, others can have any status. */
export function canChangeStatus({ key }: Environment, status: EnvironmentStatus): boolean {
  return key !== productionKey || status === "active";
}
