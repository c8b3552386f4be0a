/** The tenant that a record belongs to. */
export type TenantId = string & { readonly __id: "tenant" };

/** The environments that a caller may use. */
export type EnvironmentMode = "any" | "production_only" | "non_production_only";

/** An authenticated caller. */
export interface Principal {
  readonly tenantId: TenantId;
  /** The token's subject, or `member:<id>`, `key:<id>`, `service:<name>` or `subscriber:<id>`. */
  readonly subject: string;
  readonly kind: "user" | "api_key" | "service" | "subscriber" | "anonymous";
  readonly roles: readonly string[];
  /** All scopes that the roles and the directly assigned scopes grant. */
  readonly scopes: ReadonlySet<string>;
  readonly environmentMode: EnvironmentMode;
  /** When the credentials or the membership behind them expire; undefined if they do not. */
  readonly expiresAt?: Date | undefined;
  /** The rate limit of an API key, besides that of the tenant; undefined if it has none. */
  readonly maxRps?: number | undefined;
  /** The member behind a token or a browser session. */
  readonly memberId?: string | undefined;
  /** The email address that a person's token names, whether it is verified or not. */
  readonly email?: string | undefined;
  /** The browser session of the call. */
  readonly sessionId?: string | undefined;
  /** The subscriber of a subscriber token. The caller may only use operations and records of this subscriber. */
  readonly subscriberId?: string | undefined;
}

/** Whether everything that a mode allows is also allowed by an outer mode. */
export function isWithinMode(mode: EnvironmentMode, outer: EnvironmentMode): boolean {
  return outer === "any" || outer === mode;
}

/** Whether a mode allows access to production or non-production data; data outside any environment (null) is always allowed. */
export function modeAllows(mode: EnvironmentMode, inProduction: boolean | null): boolean {
  return mode === "any" || inProduction === null || inProduction === (mode === "production_only");
}

/** Whether a caller sees only production data, or only other data; undefined if it sees all. */
export function productionOf({ environmentMode }: Pick<Principal, "environmentMode">): boolean | undefined {
  return environmentMode === "any" ? undefined : environmentMode === "production_only";
}

/** The key of the environment that every tenant has and that is always active. */
export const productionKey = "production";

/** The mode of a caller that acts in an environment; undefined for a caller that acts in none. */
export function modeOf(environmentKey: string | undefined): EnvironmentMode {
  if (environmentKey === undefined) return "any";
  return environmentKey === productionKey ? "production_only" : "non_production_only";
}

/** Whether a caller may use an environment, given its key. */
export function mayUseEnvironment({ environmentMode }: Principal, environmentKey: string): boolean {
  return modeAllows(environmentMode, environmentKey === productionKey);
}
