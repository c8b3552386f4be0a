import { Resolver } from "node:dns";
import { isIP } from "node:net";
import { insecureSettings } from "./insecure-settings.ts";
import type { LoadedConfig } from "./loaded-config.ts";
import type { Config, SettingKey } from "./settings.ts";

/** Reports that a setting contradicts another one or the security profile. */
type Refuse = (key: SettingKey, why: string) => void;

/** Finds every contradiction between settings, and applies the values that the enterprise profile requires. */
export function crossCheck(loaded: LoadedConfig): { readonly loaded: LoadedConfig; readonly problems: string[] } {
  const problems: string[] = [];
  const refuse: Refuse = (key, why) => void problems.push(`${key}: ${why}`);
  const hardened = applyProfile(loaded, refuse);
  const { config } = hardened;
  if (config["database.listen_url"] !== "" && config["database.url"] === "") {
    refuse("database.listen_url", "needs database.url: the embedded PostgreSQL listens itself");
  }
  if (config["database.read_url"] !== "" && config["database.url"] === "") {
    refuse("database.read_url", "must be empty unless database.url is set: the embedded PostgreSQL has no replica");
  }
  for (const key of ["cache.backend", "signals.backend"] as const) {
    if (config[key] !== "redis" || config["cache.redis_url"] !== "") continue;
    refuse("cache.redis_url", `must be set when ${key} is redis (for example: redis://127.0.0.1:6379)`);
  }
  const issuers = config["api.oidc_issuer"];
  if (issuers.length > 0 && config["api.oidc_audience"].length === 0) {
    refuse("api.oidc_audience", "must be set when api.oidc_issuer is set (for example: switchyard)");
  }
  if (!issuers.every((issuer) => URL.canParse(issuer)))
    refuse("api.oidc_issuer", "must be a URL (for example: https://id.example.com), or several");
  try {
    new Resolver().setServers(config["egress.name_servers"]);
  } catch {
    refuse("egress.name_servers", "must be IP addresses with or without a port (for example: 10.0.0.2:5353)");
  }
  const secret = config["auth.service_token_secret"];
  if (secret !== "" && secret.length < 32)
    refuse("auth.service_token_secret", "must have at least 32 characters (create one with: openssl rand -hex 32)");
  const bootstrap = config["auth.bootstrap_api_key"];
  if (bootstrap !== "" && !keyFormat.test(bootstrap)) {
    refuse(
      "auth.bootstrap_api_key",
      "must be sk_<env>_<key id>_<secret>, with a secret of 8 to 72 characters (for example: sk_live_ci_4f9c1d27b8e6a350)",
    );
  }
  if (
    config.security_profile === "enterprise" &&
    config["notification.dispatch.enabled"] &&
    config["notification.dispatch.queue"] !== "tiered"
  ) {
    refuse(
      "notification.dispatch.queue",
      "must be tiered in the enterprise security profile, unless notification.dispatch.enabled is false",
    );
  }
  if (!mcpPath.test(config["mcp.path"])) {
    refuse("mcp.path", "must be a path of its own, without a slash at its end (for example: /mcp)");
  }
  for (const signal of config["telemetry.otlp_signals"]) {
    if (!["traces", "metrics", "logs"].includes(signal))
      refuse("telemetry.otlp_signals", `${signal} is unknown: use traces, metrics and logs`);
  }
  if (config["storage.warn_percent"] >= config["storage.full_percent"])
    refuse("storage.warn_percent", "must be less than storage.full_percent (for example: 80 and 95)");
  checkAnalytics(config, refuse);
  checkBucket(config, "objects", refuse);
  checkBackup(config, refuse);
  checkInternalPlane(config, refuse);
  checkEgress(config, refuse);
  checkNetworks(config, "server.proxy_networks", refuse);
  for (const [operation, date] of Object.entries(config["api.sunset_dates"])) {
    if (Number.isNaN(Date.parse(date)))
      refuse("api.sunset_dates", `${operation}: ${date} is not a date (for example: 2027-01-31)`);
  }
  return { loaded: hardened, problems };
}

/** The format of an API key: prefix, then secret. bcrypt ignores bytes after the 72nd, so longer secrets are invalid. */
export const keyFormat = /^(sk_[a-z0-9]{1,32}_[A-Za-z0-9-]{1,64})_([A-Za-z0-9_.~-]{8,72})$/;

/** A path of letters, digits, dots, dashes and underscores that no other part of the external plane serves. */
const mcpPath =
  /^(?!\/(?:api|auth|callbacks|connect|console|docs|errors|health|healthz|livez|metrics|metricsz|openapi\.\w+|outbox|ready|readyz|scim|service\.[\w.]+|grpc\.[\w.]+|workspaces|\.well-known)(?:\/|$))(?:\/[\w.-]+)+$/;

function checkAnalytics(config: Config, refuse: Refuse): void {
  if (!config["analytics.enabled"]) return;
  const url = URL.parse(config["analytics.prometheus_url"]);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    `${url.username}${url.password}${url.search}${url.hash}` !== ""
  ) {
    refuse(
      "analytics.prometheus_url",
      "must be an HTTP or HTTPS URL without credentials when analytics.enabled is true (for example: http://127.0.0.1:9091)",
    );
  }
}

function checkBackup(config: Config, refuse: Refuse): void {
  if (config["backup.backend"] === "none") return;
  if (config["database.url"] !== "") {
    refuse("backup.backend", "must be none when database.url is set: back up that PostgreSQL with its own tools");
  }
  if (config["backup.backend"] === "file" && config["backup.file.dir"] === "") {
    refuse("backup.file.dir", "must be set when backup.backend is file (for example: /mnt/backup/switchyard)");
  }
  const key = config["backup.encryption_key"];
  if (key !== "" && !(/^[A-Za-z0-9+/]{43}=$/.test(key) && !/^(.)\1+=$/.test(key))) {
    refuse("backup.encryption_key", "must be 32 random bytes in base64 (create one with: openssl rand -base64 32)");
  }
  checkBucket(config, "backup", refuse);
}

function checkBucket(config: Config, group: "objects" | "backup", refuse: Refuse): void {
  if (config[`${group}.backend`] !== "s3") return;
  const endpoint = config[`${group}.s3.endpoint`];
  if (endpoint !== "" && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    refuse(`${group}.s3.endpoint`, "must be an HTTP or HTTPS URL (for example: http://127.0.0.1:9000)");
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(config[`${group}.s3.bucket`])) {
    refuse(`${group}.s3.bucket`, `must be the name of a bucket when ${group}.backend is s3 (for example: switchyard)`);
  }
  if (!/^(?:[A-Za-z0-9_.-]+\/)*$/.test(config[`${group}.s3.prefix`])) {
    refuse(`${group}.s3.prefix`, "must be empty, or names that each end with a slash (for example: switchyard/)");
  }
  for (const key of [`${group}.s3.access_key_id`, `${group}.s3.secret_access_key`] as const) {
    if (config[key] === "") refuse(key, `must be set when ${group}.backend is s3`);
  }
}

function checkInternalPlane(config: Config, refuse: Refuse): void {
  const address = config["server.internal_addr"];
  if (address === "") return;
  if (!isLoopback(address) && !config["server.internal_require_mtls"]) {
    refuse(
      "server.internal_addr",
      `${address} is not a loopback address: bind it to 127.0.0.1 or [::1], or set server.internal_require_mtls=true`,
    );
  }
  if (config["server.internal_require_mtls"]) {
    for (const key of [
      "server.internal_tls_cert_file",
      "server.internal_tls_key_file",
      "server.internal_client_ca_file",
    ] as const) {
      if (config[key] === "") refuse(key, "must be the path of a PEM file when server.internal_require_mtls is true");
    }
  }
}

function checkEgress(config: Config, refuse: Refuse): void {
  for (const domain of config["egress.allowed_domains"]) {
    const name = domain.replace(/^\*\./, "");
    if (!/^[^\s*:/@%[\]]+$/.test(name) || isIP(name) !== 0 || !URL.canParse(`http://${name}`)) {
      refuse("egress.allowed_domains", `${domain} is not a domain name (for example: example.com or *.example.com)`);
    }
  }
  checkNetworks(config, "egress.allowed_ip_nets", refuse);
}

function checkNetworks(config: Config, key: "egress.allowed_ip_nets" | "server.proxy_networks", refuse: Refuse): void {
  for (const net of config[key]) {
    const [address = "", length, ...rest] = net.split("/");
    const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
    const bits = length === undefined ? bitsMax : Number(length);
    const isNet = rest.length === 0 && bitsMax > 0 && /^\d{1,3}$/.test(length ?? "0") && bits <= bitsMax;
    if (!isNet || address.includes("%")) {
      refuse(key, `${net} is not an IP address or network (for example: 10.1.0.0/16 or fd12::/16)`);
    }
  }
}

/** Whether an address `host:port` is reachable only from the same machine. */
export function isLoopback(address: string): boolean {
  const host = address.slice(0, address.lastIndexOf(":"));
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function applyProfile({ config, sources }: LoadedConfig, refuse: Refuse): LoadedConfig {
  if (config.security_profile !== "enterprise") return { config, sources };
  const hardened: Record<string, unknown> = { ...config };
  const hardenedSources: Record<string, string> = { ...sources };
  for (const { key, isInsecure, requirement } of insecureSettings) {
    if (requirement === undefined || !isInsecure(config)) continue;
    const isDefault = sources[key] === "default";
    if ("value" in requirement && isDefault) {
      hardened[key] = requirement.value;
      hardenedSources[key] = "security profile";
    } else {
      const rule = "value" in requirement ? `must be ${requirement.value}` : requirement.rule;
      refuse(key, `${rule} in the enterprise security profile`);
    }
  }
  // Strict enforcement would lock out tenants that were never given entitlements, the first administrator's included.
  if (sources["entitlement.grace_unprovisioned"] === "default") {
    hardened["entitlement.grace_unprovisioned"] = true;
    hardenedSources["entitlement.grace_unprovisioned"] = "security profile";
  }
  return { config: hardened as unknown as Config, sources: hardenedSources as LoadedConfig["sources"] };
}
