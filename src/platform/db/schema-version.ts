import semver from "semver";
import type { Sql } from "./sql/sql.ts";

/** A version of the service, and the oldest one whose nodes may run beside it. */
export interface Release {
  readonly version: string;
  readonly compatibleSince: string;
}

/** This version cannot run on the database of another one. The message says what to do. */
export class VersionError extends Error {
  override readonly name = "VersionError";
}

/** The signal topic for a change of the stored release. */
export const schemaVersionTopic = "schema_version";

/** Reads the newest release that has used the database; undefined before the first. */
export async function readStoredRelease(sql: Sql): Promise<Release | undefined> {
  await sql`
    create table if not exists schema_version (
      only_row         boolean primary key default true check (only_row),
      version          text not null,
      compatible_since text not null
    )`;
  return readRelease(sql);
}

async function readRelease(sql: Sql): Promise<Release | undefined> {
  const [row] = await sql<{ version: string; since: string }[]>`
    select version, compatible_since as since from schema_version`;
  return row && { version: row.version, compatibleSince: row.since };
}

export async function storeRelease(sql: Sql, { version, compatibleSince }: Release): Promise<void> {
  await sql`
    insert into schema_version (version, compatible_since) values (${version}, ${compatibleSince})
    on conflict (only_row) do update set version = excluded.version, compatible_since = excluded.compatible_since`;
}

/** The release to store when `own` uses the database of `stored`. Throws a VersionError if it may not. */
export function nextRelease(own: Release, stored: Release | undefined): Release {
  if (stored === undefined) return own;
  const refusal = tooOld(own, stored);
  if (refusal !== undefined) throw new VersionError(refusal);
  if (semver.lt(stored.version, own.compatibleSince)) {
    throw new VersionError(
      `Version ${own.version} is too new for this database: version ${stored.version} has used it last, and no version may be ` +
        `skipped. Run this first, with the same settings: npx --package=switchyard@${own.compatibleSince} service migrate`,
    );
  }
  return semver.gt(own.version, stored.version) ? own : stored;
}

function tooOld(own: Release, stored: Release): string | undefined {
  if (semver.gte(own.version, stored.compatibleSince)) return undefined;
  return (
    `Version ${own.version} is too old for this database: version ${stored.version} has used it, which runs beside ` +
    `${stored.compatibleSince} and later. Install version ${stored.version}.`
  );
}

/** Why a running node must stop, because a newer version uses its database that does not run beside it; undefined if it may go on. */
export async function findSuccessor(sql: Sql, own: Release): Promise<string | undefined> {
  const stored = await readRelease(sql);
  return stored && tooOld(own, stored);
}
