import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import { socketHost } from "../embedded/socket-host.ts";
import { type ConnectionError, connectionInsecure } from "./connection-error.ts";

/** How the connections of one pool are made. */
export interface ConnectionSettings {
  /** Settings of PostgreSQL for each session. */
  readonly session?: Readonly<Record<string, string | number>>;
  /** What a column is called in a row; the name as it is unless told. */
  readonly columnName?: (name: string) => string;
  readonly connectMs?: number;
  /**
   * How long the server may be silent while a statement waits for it. Its own time-out comes sooner, unless it is
   * frozen or cut off. Unlimited unless told.
   */
  readonly silenceMs?: number;
}

const keepAliveMs = 60_000;
/** The formats that values are read in, whatever the server's own defaults are. */
const formats = { datestyle: "ISO", intervalstyle: "postgres", bytea_output: "hex" };

/** What `pg` needs to connect to a URL. A query parameter that is not about connecting is a setting of the session. */
export function clientConfig(url: string, settings: ConnectionSettings): ClientConfig {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const parameters: Record<string, string> = Object.fromEntries(searchParams);
  const {
    sslmode,
    ssl = sslmode,
    sslrootcert,
    sslnegotiation,
    connect_timeout,
    channel_binding,
    ...others
  } = parameters;
  const unknown = Object.keys(others).find((name) => notSettings.has(name));
  if (unknown !== undefined) throw new Error(`The database URL has the parameter ${unknown}, which is not supported.`);
  const database = decodeURIComponent(pathname.slice(1));
  return {
    host: socketHost(url) ?? (bracketless(hostname) || undefined),
    port: port === "" ? undefined : Number(port),
    user: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
    database: database === "" ? undefined : database,
    ssl: tlsOf(ssl, sslrootcert),
    ...(channel_binding !== undefined && channel_binding !== "disable" && { enableChannelBinding: true }),
    ...(sslnegotiation === "direct" && { sslnegotiation }),
    options: Object.entries({ ...formats, ...others, ...settings.session })
      .map(([name, value]) => `-c ${name}=${String(value).replaceAll(/([\\ ])/g, "\\$1")}`)
      .join(" "),
    connectionTimeoutMillis: connect_timeout ? Number(connect_timeout) * 1000 : (settings.connectMs ?? 5000),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    pipeline: true,
  };
}

/** Whether a server without TLS will do. */
export function isTlsOptional(url: string): boolean {
  return ["allow", "prefer"].includes(new URL(url).searchParams.get("sslmode") ?? "");
}

/** Whether connecting failed because the server has no TLS. */
export function isTlsMissing(error: Error): boolean {
  return error.message.includes("does not support SSL");
}

/** Node's codes of a certificate that it does not accept; those of a wrong host name begin with ERR_TLS. */
const certificateCodes =
  /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/;

/** The refusal of a server whose TLS is not what the mode asks for, with what to do; undefined for any other error. */
export function tlsFailure(error: Error & { readonly code?: unknown }): ConnectionError | undefined {
  if (isTlsMissing(error)) {
    return connectionInsecure("Enable TLS on the server, or use sslmode=prefer for a network that is trusted.", error);
  }
  const code = String(error.code ?? "");
  if (!certificateCodes.test(code)) return undefined;
  return connectionInsecure(
    code === "ERR_TLS_CERT_ALTNAME_INVALID"
      ? "Use a host name that the server's certificate lists, or sslmode=verify-ca to leave the name unchecked."
      : "Name the file with the certificate of the server's authority in sslrootcert.",
    error,
  );
}

function bracketless(hostname: string): string {
  return decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1");
}

/** What libpq knows, and neither this client nor the server does. */
const notSettings = new Set([
  "gssencmode",
  "host",
  "hostaddr",
  "load_balance_hosts",
  "options",
  "passfile",
  "require_auth",
  "service",
  "sslcert",
  "sslcrl",
  "sslkey",
  "target_session_attrs",
]);

/**
 * TLS as libpq has it: `verify-ca` and `verify-full` check the certificate, and so does `require` when there is a file
 * to check it by.
 */
function tlsOf(mode: string | undefined, rootFile: string | undefined): ClientConfig["ssl"] {
  const ca = rootFile === undefined || rootFile === "system" ? undefined : rootCertificates(rootFile);
  switch (mode) {
    case undefined:
    case "":
    case "disable":
    case "false":
      return false;
    case "verify-ca":
      return { ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case "verify-full":
    case "true":
      return { ca, rejectUnauthorized: true };
    case "require":
      return ca === undefined
        ? { rejectUnauthorized: false }
        : { ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case "allow":
    case "prefer":
    case "no-verify":
      return { rejectUnauthorized: false };
    default:
      throw new Error(
        `The database URL has sslmode=${mode}; use disable, prefer, require, no-verify, verify-ca or verify-full.`,
      );
  }
}

function rootCertificates(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new Error(`The database URL has sslrootcert=${file}, which cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
