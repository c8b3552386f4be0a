import type { Config, SettingKey } from "./settings.ts";

/** A setting that can weaken a security control. */
interface InsecureSetting {
  readonly key: SettingKey;
  /** Whether it does so with the given values. */
  readonly isInsecure: (config: Config) => boolean;
  /** The consequence, as shown to operators. */
  readonly risk: string;
  /**
   * Requirement of the enterprise profile: a value, which also replaces the default, or a rule in words. Absent if the
   * profile leaves the choice to the operator.
   */
  readonly requirement?: { readonly value: string | boolean } | { readonly rule: string };
}

const bcryptCostMin = 10;
const bootstrapSecretCharsMin = 24;

/** Settings that can weaken a security control. `service doctor` warns about them; the enterprise profile rejects them. */
export const insecureSettings: readonly InsecureSetting[] = [
  {
    key: "auth.enabled",
    isInsecure: (c) => !c["auth.enabled"],
    risk: "every caller is an admin of the first tenant",
    requirement: { value: true },
  },
  {
    key: "auth.allow_anonymous",
    isInsecure: (c) => c["auth.allow_anonymous"],
    risk: "callers without credentials can read the first tenant's data",
    requirement: { value: false },
  },
  {
    key: "auth.bcrypt_cost",
    isInsecure: (c) => c["auth.bcrypt_cost"] < bcryptCostMin,
    risk: "stolen API key hashes can be brute-forced quickly",
    requirement: { rule: `must be at least ${bcryptCostMin}` },
  },
  {
    key: "auth.bootstrap_api_key",
    isInsecure: (c) =>
      c["auth.bootstrap_api_key"] !== "" && secretChars(c["auth.bootstrap_api_key"]) < bootstrapSecretCharsMin,
    risk: "the secret of the bootstrap API key is short enough to be guessed",
    requirement: { rule: `must end in a secret of at least ${bootstrapSecretCharsMin} characters` },
  },
  {
    key: "authz.provider",
    isInsecure: (c) => c["authz.provider"] === "none",
    risk: "no authorization provider checks calls",
    requirement: { value: "builtin" },
  },
  {
    key: "authz.allow_when_unconfigured",
    isInsecure: (c) => c["authz.allow_when_unconfigured"],
    risk: "calls are allowed when authz.provider is none",
    requirement: { value: false },
  },
  {
    key: "api.oidc_issuer",
    isInsecure: (c) => c["api.oidc_issuer"].some((issuer) => /^http:/i.test(issuer)),
    risk: "an attacker on the network path to the issuer can replace its keys and forge tokens",
    requirement: { rule: "must be an https:// URL" },
  },
  {
    key: "cache.backend",
    isInsecure: (c) => c["cache.backend"] === "none",
    risk: "rate limits are not counted, so none applies",
    requirement: { rule: "must be memory or redis" },
  },
  {
    key: "ratelimit.fail_mode",
    isInsecure: (c) => c["ratelimit.fail_mode"] === "open",
    risk: "calls are not rate-limited while the rate limiter is unavailable",
    requirement: { value: "closed" },
  },
  {
    key: "ratelimit.tenant_rps",
    isInsecure: (c) => c["ratelimit.tenant_rps"] === 0 && c["ratelimit.global_rps"] === 0,
    risk: "no rate limit is set",
  },
  {
    key: "api.allowed_hosts",
    isInsecure: (c) => c["api.allowed_hosts"].includes("*"),
    risk: "requests with any Host header are accepted",
    requirement: { rule: "must not contain *" },
  },
  {
    key: "cors.allowed_origins",
    isInsecure: (c) => c["cors.allowed_origins"].includes("*"),
    risk: "web pages of any origin can call the API",
    requirement: { rule: "must not contain *" },
  },
  {
    key: "egress.mode",
    isInsecure: (c) => c["egress.mode"] !== "enforce",
    risk: "tenants can make the service send requests to private networks",
    requirement: { value: "enforce" },
  },
  {
    key: "egress.allowed_ip_nets",
    isInsecure: (c) => c["egress.allowed_ip_nets"].some((net) => /\/0+$/.test(net)),
    risk: "tenants can make the service send requests to any address, including private ones",
    requirement: { rule: "must not contain a network of all addresses (such as 0.0.0.0/0 or ::/0)" },
  },
  {
    key: "notification.outbox.enabled",
    isInsecure: (c) => c["notification.outbox.enabled"],
    risk: "notifications without a matching integration are stored in the development outbox and not sent",
    requirement: { value: false },
  },
  {
    key: "analytics.allow_unscoped_metrics",
    isInsecure: (c) => c["analytics.allow_unscoped_metrics"],
    risk: "tenants can query metrics of the whole deployment",
    requirement: { value: false },
  },
  {
    key: "entitlement.enforcement",
    isInsecure: (c) => c["entitlement.enforcement"] !== "strict",
    risk: "tenants can use operations that they are not entitled to",
    requirement: { value: "strict" },
  },
  {
    key: "audit.sink",
    isInsecure: (c) => c["audit.sink"] === "",
    risk: "there is no audit log",
    requirement: { rule: "must be stderr, stdout or file" },
  },
  {
    key: "audit.hash_chain",
    isInsecure: (c) => !c["audit.hash_chain"],
    risk: "edits of the audit log cannot be detected",
    requirement: { value: true },
  },
];

/** The length of the secret in a key `sk_<env>_<key id>_<secret>`. */
function secretChars(key: string): number {
  return key.split("_").slice(3).join("_").length;
}
