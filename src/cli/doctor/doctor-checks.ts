import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { openKeyring } from "../../app/keyring.ts";
import type { Config } from "../../config/index.ts";
import { startEmbedded } from "../../platform/db/embedded/embedded.ts";
import { openDatabase } from "../../platform/db/index.ts";
import { openRedisLimiter } from "../../platform/ratelimit/index.ts";
import { isInUse } from "../local/database-access.ts";
import { reasonOf } from "../local/start-error.ts";
import { type Finding, fails, ok, warn } from "./doctor-finding.ts";

const oldestPostgres = 15;

/** Whether the folders and files that the settings name can be used. */
export function checkFiles(config: Config): Finding[] {
  const findings: Finding[] = [];
  if (config["database.url"] === "") findings.push(writable("data.dir", config["data.dir"]));
  if (config["audit.sink"] === "file") {
    const path = config["audit.path"] || join(config["data.dir"], "audit.log");
    findings.push(existsSync(path) ? appendable("audit.path", path) : writable("audit.path", dirname(path)));
  }
  if (!config["server.internal_require_mtls"]) return findings;
  for (const key of [
    "server.internal_tls_cert_file",
    "server.internal_tls_key_file",
    "server.internal_client_ca_file",
  ] as const) {
    findings.push(
      allows(config[key], constants.R_OK)
        ? ok(key, `${config[key]} can be read`)
        : fails(key, `${config[key]} cannot be read`, "Put the file there, readable by the service's user."),
    );
  }
  return findings;
}

function appendable(check: string, path: string): Finding {
  return allows(path, constants.R_OK | constants.W_OK)
    ? ok(check, `${path} can be written`)
    : fails(check, `${path} cannot be written`, "Give the service's user the right to read and write it.");
}

function writable(check: string, path: string): Finding {
  // What is not there yet is made at the start, in the nearest folder that is.
  let nearest = resolve(path);
  while (!existsSync(nearest)) nearest = dirname(nearest);
  if (statSync(nearest).isDirectory() && allows(nearest, constants.W_OK | constants.X_OK)) {
    return ok(check, `${path} can be written`);
  }
  return fails(check, `${nearest} is no folder that can be written`, "Give the service's user a folder to write in.");
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Whether the database answers: the external one, or the embedded one after a start. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const url = config["database.url"];
  if (url !== "") return [await asks("database", url, "Check database.url, and that the database takes connections.")];
  const cluster = join(config["data.dir"], "postgres", "cluster");
  // Nothing is made in the data folder by looking: before the first start, another place shows whether it can.
  const trial = existsSync(cluster) ? undefined : mkdtempSync(join(tmpdir(), "switchyard-doctor-"));
  try {
    const embedded = await startEmbedded({ dataDir: trial ?? config["data.dir"] });
    try {
      return [await asks("database", embedded.url, "Look into the log of PostgreSQL with log.level=debug.")];
    } finally {
      await embedded.stop();
    }
  } catch (error) {
    if (isInUse(error)) return [ok("database", `a service is running: ${reasonOf(error)}`)];
    return [fails("database", reasonOf(error), "Mend what it says, or set database.url to a PostgreSQL of your own.")];
  } finally {
    if (trial !== undefined) rmSync(trial, { recursive: true, force: true });
  }
}

async function asks(check: string, url: string, remedy: string): Promise<Finding> {
  const db = openDatabase(url, { maxConnections: 1, applicationName: "switchyard doctor" });
  try {
    const [row] = await db.sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`;
    const version = Math.floor(row!.version / 10_000);
    if (version >= oldestPostgres) return ok(check, `PostgreSQL ${version} answers`);
    return fails(check, `PostgreSQL ${version} is too old`, `Use PostgreSQL ${oldestPostgres} or newer.`);
  } catch (error) {
    return fails(check, reasonOf(error), remedy);
  } finally {
    await db.close();
  }
}

/** Whether secrets can be kept. */
export function checkKeyring(config: Config): Finding[] {
  const check = "connector.encryption_key";
  const kept = join(config["data.dir"], "master.key");
  const embedded = config["database.url"] === "";
  if (config[check] === "" && !embedded) {
    return [warn(check, "there is no master key: secrets cannot be kept", "Set it, the same on every node.")];
  }
  if (config[check] === "" && !existsSync(kept)) {
    const used = existsSync(join(config["data.dir"], "postgres", "cluster"));
    const made = "a master key is made at the next start";
    if (!used) return [ok(check, made)];
    return [warn(check, `${kept} is missing: ${made}`, "If there are secrets already, restore the file first.")];
  }
  try {
    const { activeKeyId } = openKeyring(config)!;
    if (config[check] === "" && (statSync(kept).mode & 0o077) !== 0) {
      return [warn(check, `others can read ${kept}`, `chmod 600 ${kept}`)];
    }
    return [ok(check, `the active master key is ${activeKeyId}`)];
  } catch (error) {
    return [fails(check, reasonOf(error), "Give 32 random bytes in base64: openssl rand -base64 32")];
  }
}

/** Whether the cache answers. */
export async function checkCache(config: Config): Promise<Finding[]> {
  const check = "cache.backend";
  if (config[check] === "memory") return [ok(check, "rate limits are counted in this node's memory")];
  // Listed among the settings that leave something open.
  if (config[check] === "none") return [];
  const redis = await openRedisLimiter({ url: config["cache.redis_url"], failMode: "closed" });
  try {
    await redis.ping();
    return [ok(check, "the cache answers")];
  } catch (error) {
    const remedy = "Check cache.redis_url, and that the cache takes connections.";
    const say = config["ratelimit.fail_mode"] === "closed" ? fails : warn;
    return [say(check, `the cache does not answer: ${reasonOf(error)}`, remedy)];
  } finally {
    await redis.close();
  }
}

/** Whether callers can show who they are, and tokens can be checked. */
export async function checkIssuer(config: Config): Promise<Finding[]> {
  const check = "api.oidc_issuer";
  const issuer = config[check];
  if (issuer === "") {
    const others = config["auth.api_key_enabled"] || config["auth.allow_anonymous"] || !config["auth.enabled"];
    if (others) return [ok(check, "not set: no tokens are accepted")];
    return [
      warn("auth", "neither API keys nor tokens are accepted: every call is refused", "Set auth.api_key_enabled=true."),
    ];
  }
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(5000), redirect: "error" });
    if (!response.ok) throw new Error(`${address} answers ${response.status}`);
    const { issuer: named, jwks_uri: keys } = (await response.json()) as { issuer?: string; jwks_uri?: string };
    if (named !== issuer) return [fails(check, `the issuer calls itself ${named}`, "Set it exactly so.")];
    if (typeof keys !== "string") return [fails(check, "the issuer names no keys", "Use an OpenID Connect issuer.")];
    return [ok(check, "the issuer answers")];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return [fails(check, `the issuer does not answer: ${reasonOf(cause)}`, "Check the address and the network.")];
  }
}
