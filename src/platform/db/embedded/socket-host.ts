/**
 * The socket folder that a database URL names as its host, percent-encoded as in libpq: `postgres://me@%2Frun%2Fpg/db`.
 * Undefined for any other host.
 */
export function socketHost(url: string): string | undefined {
  const host = decodeURIComponent(new URL(url).hostname);
  return host.startsWith("/") ? host : undefined;
}
