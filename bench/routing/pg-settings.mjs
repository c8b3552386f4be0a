// How participants connect to their database.

/**
 * Connections of each participant. It is the peers' default, and no size from 2 to 40 was clearly better for any of
 * them.
 */
export const poolSize = 10;

/** The embedded PostgreSQL's socket, user and database, in node-postgres form. */
export function pgSettings(databaseUrl) {
  const { hostname, username, pathname } = new URL(databaseUrl);
  return { host: decodeURIComponent(hostname), user: username, database: pathname.slice(1), max: poolSize };
}
