/** The tenant that a record belongs to. */
export type TenantId = string & { readonly __id: "tenant" };

/** Where a caller may work. */
export type EnvironmentMode = "any" | "production_only" | "non_production_only";

/** Who calls. */
export interface Principal {
  readonly tenantId: TenantId;
  /** The token's subject, or `key:<id>`, or `service:<name>`. */
  readonly subject: string;
  readonly kind: "user" | "api_key" | "service" | "anonymous";
  readonly roles: readonly string[];
  /** Everything that roles and own scopes grant. */
  readonly scopes: ReadonlySet<string>;
  readonly environmentMode: EnvironmentMode;
  /** When the credentials, or the membership behind them, end for good; undefined when they do not. */
  readonly expiresAt?: Date | undefined;
}

/** Whether everything that one mode allows is allowed by another. */
export function isWithinMode(mode: EnvironmentMode, outer: EnvironmentMode): boolean {
  return outer === "any" || outer === mode;
}

/** Whether a mode allows what is in production, or what is not; what is in no environment (null) is always allowed. */
export function modeAllows(mode: EnvironmentMode, inProduction: boolean | null): boolean {
  return mode === "any" || inProduction === null || inProduction === (mode === "production_only");
}

/** Whether a caller may work in an environment, by its key. */
export function mayUseEnvironment({ environmentMode }: Principal, environmentKey: string): boolean {
  return modeAllows(environmentMode, environmentKey === "production");
}
