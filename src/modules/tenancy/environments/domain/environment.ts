import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** Whether work in an environment is real. */
export type Mode = "live" | "sandbox";

/** Where an environment stands. */
export type EnvironmentStatus = "active" | "disabled" | "deleted";

/** A place where configuration and keys are valid. */
export interface Environment extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly mode: Mode;
  readonly status: EnvironmentStatus;
}

/** What is asked for a new environment. */
export type NewEnvironment = Pick<Environment, "key" | "name" | "mode">;

/** What an update may change. */
export interface EnvironmentChange {
  readonly name?: string | undefined;
  readonly status?: EnvironmentStatus | undefined;
}

/** The environment that every tenant always has, in use. */
export const productionKey = "production";

/** Whether an environment may come to a status: production stays in use, the others may have any. */
export function mayBecome({ key }: Environment, status: EnvironmentStatus): boolean {
  return key !== productionKey || status === "active";
}
