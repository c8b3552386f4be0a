import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import { socketHost } from "../embedded/socket-host.ts";
import { type ConnectionError, connectionInsecure } from "./connection-error.ts";
import { SessionSettings } from "./session-settings.ts";

/** The settings of a pool's connections. */
export interface ConnectionSettings {
  readonly applicationName?: string;
  /** PostgreSQL settings of each session. */
  readonly session?: Readonly<Record<string, string | number>>;
  /** Maps a column name to a property name; unchanged by default. */
  readonly columnName?: (name: string) => string;
  readonly connectMs?: number;
  /**
   * How long the server may be silent while a statement is in flight. Its statement timeout comes first, unless it is frozen
   * or unreachable. Unlimited by default.
   */
  readonly silenceMs?: number;
}

const keepAliveMs = 60_000;

/** The `pg` configuration for a URL, and the settings of the session. */
export interface ClientOptions {
  readonly config: ClientConfig & { readonly connectionTimeoutMillis: number };
  readonly session: SessionSettings;
}

/**
 * Reads a URL. Query parameters that do not concern the connection are session settings. They are not sent at the start of the
 * connection, because poolers refuse them there.
 */
export function clientOptions(url: string, settings: ConnectionSettings): ClientOptions {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const parameters: Record<string, string> = Object.fromEntries(searchParams);
  const {
    sslmode,
    ssl = sslmode,
    sslrootcert,
    sslnegotiation,
    connect_timeout,
    channel_binding,
    application_name = settings.applicationName,
    ...others
  } = parameters;
  const unknown = Object.keys(others).find((name) => notSettings.has(name));
  if (unknown !== undefined) throw new Error(`The database URL has the parameter ${unknown}, which is not supported.`);
  const database = decodeURIComponent(pathname.slice(1));
  const config = {
    host: socketHost(url) ?? (bracketless(hostname) || undefined),
    port: port === "" ? undefined : Number(port),
    user: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
    database: database === "" ? undefined : database,
    ssl: tlsOf(ssl, sslrootcert),
    ...(channel_binding !== undefined && channel_binding !== "disable" && { enableChannelBinding: true }),
    ...(sslnegotiation === "direct" && { sslnegotiation: "direct" as const }),
    application_name,
    connectionTimeoutMillis: connect_timeout ? Number(connect_timeout) * 1000 : (settings.connectMs ?? 5000),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    pipeline: true,
  };
  return { config, session: new SessionSettings({ ...others, ...settings.session }) };
}

/** Whether a server without TLS is acceptable. */
export function isTlsOptional(url: string): boolean {
  return ["allow", "prefer"].includes(new URL(url).searchParams.get("sslmode") ?? "");
}

/** Whether connecting failed because the server has no TLS. */
export function isTlsMissing(error: Error): boolean {
  return error.message.includes("does not support SSL");
}

/** Node's error codes for a rejected certificate; those for a wrong host name begin with ERR_TLS. */
const certificateCodes =
  /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/;

/** The error, with advice, for a server whose TLS does not meet the mode; undefined for any other error. */
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

/** The host of a URL as sockets need it: an IPv6 address has no brackets. */
export function bracketless(hostname: string): string {
  return decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1");
}

/** Parameters of libpq that neither this client nor the server supports. */
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
 * TLS modes as in libpq: `verify-ca` and `verify-full` verify the certificate, and so does `require` when a root
 * certificate file is set.
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
