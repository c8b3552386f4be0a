import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** Where a tenant stands. */
export type TenantStatus = "active" | "suspended" | "deleted";

/** Daily limits by operation. */
export type Quotas = Readonly<Record<string, { readonly limit_per_day: number }>>;

/** An owner of everything else. */
export interface Tenant extends Stamps {
  readonly id: TenantId;
  readonly name: string;
  readonly slug: string;
  readonly status: TenantStatus;
  readonly plan: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly quotas: Quotas;
  readonly platform: boolean;
}

/** What an update may change. */
export interface TenantChange {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly status?: TenantStatus | undefined;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly quotas?: Quotas | undefined;
}

/** The operations whose limit is lifted: those with a limit of 0. */
export function liftedQuotas(quotas: Quotas): string[] {
  return Object.keys(quotas).filter((operation) => quotas[operation]!.limit_per_day === 0);
}

/** The environments that every tenant starts with. */
export const startingEnvironments = [
  { key: "production", name: "Production", mode: "live" },
  { key: "staging", name: "Staging", mode: "sandbox" },
  { key: "development", name: "Development", mode: "sandbox" },
] as const;

/** A slug made from a name; the suffix keeps two tenants of one name apart. */
export function slugOf(name: string, suffix: string): string {
  const stem = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return stem === "" ? suffix : `${stem}-${suffix}`;
}

/** What only the platform tenant may change about a tenant; undefined when the change holds nothing of it. */
export function platformOnlyField(change: TenantChange): "plan" | "status" | "quotas" | undefined {
  if (change.plan !== undefined) return "plan";
  if (change.status !== undefined) return "status";
  return change.quotas === undefined ? undefined : "quotas";
}
