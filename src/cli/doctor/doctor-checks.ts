import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { openKeyring } from "../../app/keyring.ts";
import { divideLimits } from "../../app/processes/divided-limits.ts";
import { processCountOf } from "../../app/processes/process-count.ts";
import { connectionsOf, listenUrlOf } from "../../app/storage.ts";
import type { Config } from "../../config/index.ts";
import { reasonOf } from "../../errors/index.ts";
import { backupProblem, createBackupTarget, readBackups } from "../../platform/backup/index.ts";
import { startEmbedded } from "../../platform/db/embedded/embedded.ts";
import { checkServer } from "../../platform/db/server-check.ts";
import { openBackupStore } from "../../platform/objects/index.ts";
import { openRedisLimiter } from "../../platform/ratelimit/index.ts";
import { isInUse } from "../local/database-access.ts";
import { type Finding, fails, ok, warn } from "./doctor-finding.ts";

/** Checks access to the directories and files in the settings. */
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
      isAccessible(config[key], constants.R_OK)
        ? ok(key, `${config[key]} is readable`)
        : fails(key, `${config[key]} is not readable`, "Create the file, readable by the service's user."),
    );
  }
  return findings;
}

function appendable(check: string, path: string): Finding {
  return isAccessible(path, constants.R_OK | constants.W_OK)
    ? ok(check, `${path} is writable`)
    : fails(check, `${path} is not writable`, "Grant the service's user read and write access.");
}

function writable(check: string, path: string): Finding {
  // A missing directory is created at start, in its nearest existing parent.
  let nearest = resolve(path);
  while (!existsSync(nearest)) nearest = dirname(nearest);
  if (statSync(nearest).isDirectory() && isAccessible(nearest, constants.W_OK | constants.X_OK)) {
    return ok(check, `${path} is writable`);
  }
  return fails(check, `${nearest} is not a writable directory`, "Grant the service's user write access to it.");
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Checks the database: connects to the external one, or starts the embedded one. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const url = config["database.url"];
  if (url !== "") return queryDatabase(config, url, "Check database.url, and that the database accepts connections.");
  const cluster = join(config["data.dir"], "postgres", "cluster");
  // The check must not create data. Before the first start it uses a temporary directory.
  const trial = existsSync(cluster) ? undefined : mkdtempSync(join(tmpdir(), "switchyard-doctor-"));
  try {
    const embedded = await startEmbedded({ dataDir: trial ?? config["data.dir"] });
    try {
      return await queryDatabase(config, embedded.url, "Read PostgreSQL's log with log.level=debug.");
    } finally {
      await embedded.stop();
    }
  } catch (error) {
    if (isInUse(error)) return [ok("database", `a service is running: ${reasonOf(error)}`)];
    return [
      fails("database", reasonOf(error), "Fix the reported problem, or set database.url to an external PostgreSQL."),
    ];
  } finally {
    if (trial !== undefined) rmSync(trial, { recursive: true, force: true });
  }
}

async function queryDatabase(config: Config, url: string, remedy: string): Promise<Finding[]> {
  const check = "database";
  const first = { number: 1, count: processCountOf(config) };
  try {
    const connections = connectionsOf(divideLimits(config, first), first.count);
    const { version, problems } = await checkServer(url, connections, listenUrlOf(config, url));
    const found = problems.map((each) => (each.isFatal ? fails : warn)(check, each.message, each.remedy));
    return problems.some(({ isFatal }) => isFatal) ? found : [ok(check, `PostgreSQL ${version} responds`), ...found];
  } catch (error) {
    return [fails(check, reasonOf(error), remedy)];
  }
}

/** Checks that the embedded database is backed up. */
export async function checkBackups(config: Config): Promise<Finding[]> {
  const check = "backup.backend";
  if (config["database.url"] !== "") return [];
  const store = openBackupStore(config, Date.now);
  if (store === undefined) {
    return [warn(check, "there are no backups: with the disk, all data is lost", "Set backup.backend to file or s3.")];
  }
  const target = createBackupTarget(store, config["backup.encryption_key"]);
  try {
    const newest = (await readBackups(target)).at(-1);
    const problem = backupProblem(config["data.dir"], Date.now());
    if (problem !== undefined) {
      const message = [problem.summary, problem.reason].filter((part) => part !== undefined).join(": ");
      return [fails(check, message, "Check the settings backup.*, and the store.")];
    }
    if (newest === undefined) return [warn(check, "there is no backup yet", "Start the service, which creates one.")];
    return [ok(check, `what was acknowledged before ${newest.until.toISOString()} can be restored`)];
  } catch (error) {
    return [
      fails(check, `the backups cannot be read: ${reasonOf(error)}`, "Check the settings backup.*, and the store."),
    ];
  } finally {
    target.close();
  }
}

/** Checks that secrets can be encrypted. */
export function checkKeyring(config: Config): Finding[] {
  const check = "connector.encryption_key";
  const keyFile = join(config["data.dir"], "master.key");
  const embedded = config["database.url"] === "";
  if (config[check] === "" && !embedded) {
    return [warn(check, "no master key is set: secrets cannot be stored", "Set the same key on every node.")];
  }
  if (config[check] === "" && !existsSync(keyFile)) {
    const used = existsSync(join(config["data.dir"], "postgres", "cluster"));
    const generated = "a master key is generated at the next start";
    if (!used) return [ok(check, generated)];
    return [warn(check, `${keyFile} is missing: ${generated}`, "If there are stored secrets, restore the file first.")];
  }
  try {
    const { activeKeyId } = openKeyring(config)!;
    if (config[check] === "" && (statSync(keyFile).mode & 0o077) !== 0) {
      return [warn(check, `${keyFile} is readable by other users`, `chmod 600 ${keyFile}`)];
    }
    return [ok(check, `the active master key is ${activeKeyId}`)];
  } catch (error) {
    return [
      fails(check, reasonOf(error), "Set 32 random bytes in base64 (generate them with: openssl rand -base64 32)."),
    ];
  }
}

/** Checks the connection to the cache. */
export async function checkCache(config: Config): Promise<Finding[]> {
  const check = "cache.backend";
  if (config[check] === "memory") return [ok(check, "rate limits are counted in this node's memory")];
  // Reported with the insecure settings.
  if (config[check] === "none") return [];
  const redis = await openRedisLimiter({ url: config["cache.redis_url"], failMode: "closed" });
  try {
    await redis.ping();
    return [ok(check, "the cache responds")];
  } catch (error) {
    const remedy = "Check cache.redis_url, and that the cache accepts connections.";
    const report = config["ratelimit.fail_mode"] === "closed" ? fails : warn;
    return [report(check, `the cache does not respond: ${reasonOf(error)}`, remedy)];
  } finally {
    await redis.close();
  }
}

/** Checks that callers can authenticate and that tokens can be verified. */
export async function checkIssuer(config: Config): Promise<Finding[]> {
  const check = "api.oidc_issuer";
  const issuers = config[check];
  if (issuers.length === 0) {
    const others = config["auth.api_key_enabled"] || config["auth.allow_anonymous"] || !config["auth.enabled"];
    if (others) return [ok(check, "not set: no tokens are accepted")];
    return [
      warn("auth", "neither API keys nor tokens are accepted: every call is refused", "Set auth.api_key_enabled=true."),
    ];
  }
  const findings = await Promise.all(issuers.map((issuer) => checkDiscovery(check, issuer)));
  return findings.flat();
}

async function checkDiscovery(check: string, issuer: string): Promise<Finding[]> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(5000), redirect: "error" });
    if (!response.ok) throw new Error(`${address} returned ${response.status}`);
    const { issuer: named, jwks_uri: keys } = (await response.json()) as { issuer?: string; jwks_uri?: string };
    if (named !== issuer)
      return [fails(check, `the issuer identifies itself as ${named}`, "Set api.oidc_issuer to exactly this value.")];
    if (typeof keys !== "string")
      return [fails(check, "the issuer publishes no keys (jwks_uri)", "Use an OpenID Connect issuer.")];
    return [ok(check, "the issuer responds")];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return [fails(check, `the issuer does not respond: ${reasonOf(cause)}`, "Check the URL and the network.")];
  }
}
