import type { Config, SettingKey } from "./settings.ts";

/** A setting that can leave something open. */
interface OpenSetting {
  readonly key: SettingKey;
  /** Whether it does, with the values in force. */
  readonly open: (config: Config) => boolean;
  /** What that means. */
  readonly meaning: string;
  /**
   * What the enterprise profile demands: a value, which it also sets in place of a default, or a rule in words. Absent
   * where the profile leaves the choice to the operator.
   */
  readonly demand?: { readonly value: string | boolean } | { readonly rule: string };
}

const bcryptCostMin = 10;
const bootstrapSecretCharsMin = 24;

/** Settings that can leave something open: `service doctor` lists those that do, the enterprise profile refuses them. */
export const openSettings: readonly OpenSetting[] = [
  {
    key: "auth.enabled",
    open: (c) => !c["auth.enabled"],
    meaning: "every caller is an admin of the first tenant",
    demand: { value: true },
  },
  {
    key: "auth.allow_anonymous",
    open: (c) => c["auth.allow_anonymous"],
    meaning: "callers without credentials may read the first tenant",
    demand: { value: false },
  },
  {
    key: "auth.bcrypt_cost",
    open: (c) => c["auth.bcrypt_cost"] < bcryptCostMin,
    meaning: "whoever gets hold of the stored hashes of API keys can try secrets fast",
    demand: { rule: `must be ${bcryptCostMin} or more` },
  },
  {
    key: "auth.bootstrap_api_key",
    open: (c) =>
      c["auth.bootstrap_api_key"] !== "" && secretChars(c["auth.bootstrap_api_key"]) < bootstrapSecretCharsMin,
    meaning: "the secret of the first admin's key is short enough to be guessed",
    demand: { rule: `must end in a secret of ${bootstrapSecretCharsMin} characters or more` },
  },
  {
    key: "authz.provider",
    open: (c) => c["authz.provider"] === "none",
    meaning: "nothing decides on authorization",
    demand: { value: "builtin" },
  },
  {
    key: "authz.allow_when_unconfigured",
    open: (c) => c["authz.allow_when_unconfigured"],
    meaning: "calls are allowed when nothing decides on authorization",
    demand: { value: false },
  },
  {
    key: "api.oidc_issuer",
    open: (c) => /^http:/i.test(c["api.oidc_issuer"]),
    meaning: "whoever is on the way to the issuer can replace its keys, and so forge tokens",
    demand: { rule: "must be an https:// address" },
  },
  {
    key: "cache.backend",
    open: (c) => c["cache.backend"] === "none",
    meaning: "nothing counts rate limits, so that none is in force",
    demand: { rule: "must be memory or redis" },
  },
  {
    key: "ratelimit.fail_mode",
    open: (c) => c["ratelimit.fail_mode"] === "open",
    meaning: "calls pass unlimited while the rate limiter cannot answer",
    demand: { value: "closed" },
  },
  {
    key: "ratelimit.tenant_rps",
    open: (c) => c["ratelimit.tenant_rps"] === 0 && c["ratelimit.global_rps"] === 0,
    meaning: "callers are not limited",
  },
  {
    key: "api.allowed_hosts",
    open: (c) => c["api.allowed_hosts"].includes("*"),
    meaning: "any Host is answered",
    demand: { rule: "must not hold *" },
  },
  {
    key: "cors.allowed_origins",
    open: (c) => c["cors.allowed_origins"].includes("*"),
    meaning: "browsers of any origin may call",
    demand: { rule: "must not hold *" },
  },
  {
    key: "egress.mode",
    open: (c) => c["egress.mode"] !== "enforce",
    meaning: "tenants can have private networks called",
    demand: { value: "enforce" },
  },
  {
    key: "egress.allowed_ip_nets",
    open: (c) => c["egress.allowed_ip_nets"].some((net) => /\/0+$/.test(net)),
    meaning: "tenants can have every address called, private ones included",
    demand: { rule: "must not hold a network of all addresses" },
  },
  {
    key: "notification.outbox.enabled",
    open: (c) => c["notification.outbox.enabled"],
    meaning: "notifications that no integration serves are kept for developers to see, and not sent",
    demand: { value: false },
  },
  {
    key: "audit.sink",
    open: (c) => c["audit.sink"] === "",
    meaning: "nothing is audited",
    demand: { rule: "must be set" },
  },
  {
    key: "audit.hash_chain",
    open: (c) => !c["audit.hash_chain"],
    meaning: "nobody can tell whether the audit log was edited",
    demand: { value: true },
  },
];

/** How long the secret of a key `sk_<env>_<key id>_<secret>` is. */
function secretChars(key: string): number {
  return key.split("_").slice(3).join("_").length;
}
