import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

export type TenantStatus = "active" | "suspended" | "deleted";

/** Daily limits by operation. */
export type Quotas = Readonly<Record<string, { readonly limit_per_day: number }>>;

/** A tenant: the unit of isolation. Every record belongs to one. */
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

/** The fields that an update can change. */
export type TenantChange = Partial<Pick<Tenant, "name" | "plan" | "status" | "settings" | "quotas">>;

/** The operations whose limit is removed, which a limit of 0 means. */
export function removedQuotas(quotas: Quotas): string[] {
  return Object.keys(quotas).filter((operation) => quotas[operation]!.limit_per_day === 0);
}

export const defaultEnvironments = [
  { key: "production", name: "Production", mode: "live" },
  { key: "staging", name: "Staging", mode: "sandbox" },
  { key: "development", name: "Development", mode: "sandbox" },
] as const;

/** Derives a slug from a name. The suffix makes it unique among tenants of the same name. */
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

/** The first field of a change that only the platform tenant may change; undefined without one. */
export function platformOnlyField(change: TenantChange): "plan" | "status" | "quotas" | undefined {
  if (change.plan !== undefined) return "plan";
  if (change.status !== undefined) return "status";
  return change.quotas === undefined ? undefined : "quotas";
}
