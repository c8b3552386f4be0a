import type { ClientConfig } from "pg";
import { socketHost } from "../socket-host.ts";

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

/** What `pg` needs to connect to a URL. A query parameter that is not about TLS is a setting of the session. */
export function clientConfig(url: string, settings: ConnectionSettings): ClientConfig {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const { sslmode, ssl = sslmode, sslnegotiation, ...others } = Object.fromEntries(searchParams);
  const database = decodeURIComponent(pathname.slice(1));
  return {
    host: socketHost(url) ?? (bracketless(hostname) || undefined),
    port: port === "" ? undefined : Number(port),
    user: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
    database: database === "" ? undefined : database,
    ssl: tlsOf(ssl),
    ...(sslnegotiation === "direct" && { sslnegotiation }),
    options: Object.entries({ ...others, ...settings.session })
      .map(([name, value]) => `-c ${name}=${String(value).replaceAll(/([\\ ])/g, "\\$1")}`)
      .join(" "),
    connectionTimeoutMillis: settings.connectMs ?? 5000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    pipeline: true,
  };
}

/** Whether a server without TLS will do. */
export function isTlsOptional(url: string): boolean {
  return ["allow", "prefer"].includes(new URL(url).searchParams.get("sslmode") ?? "");
}

function bracketless(hostname: string): string {
  return decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1");
}

/** TLS as libpq names it: only `verify-ca` and `verify-full` check the certificate. */
function tlsOf(mode: string | undefined): ClientConfig["ssl"] {
  switch (mode) {
    case undefined:
    case "":
    case "disable":
    case "false":
      return false;
    case "verify-ca":
      return { rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case "verify-full":
    case "true":
      return { rejectUnauthorized: true };
    default:
      return { rejectUnauthorized: false };
  }
}
