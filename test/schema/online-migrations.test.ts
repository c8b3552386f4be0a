import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import semver from "semver";
import { release } from "../../src/app/version.ts";
import { plantedMigrations } from "../harness/releases.ts";

const folder = join(import.meta.dirname, "../../migrations");
/** The last migration of the first release. Before it, there were no nodes of an earlier version. */
const firstRelease = "0011_operations.sql";

/** Statements that the nodes of the version before cannot bear, and why. */
const contractions: readonly (readonly [RegExp, string])[] = [
  [/\bdrop (table|column|function|view)\b/, "the version before uses it"],
  [/\brename\b/, "the version before uses the old name"],
  [/\bset not null\b/, "the version before writes null"],
  [/\bdrop default\b/, "the version before relies on it"],
  [
    /\balter( column)? \w+ (set data )?type\b/,
    "the table is rewritten under a lock, and the version before writes the old type",
  ],
  [/\badd column (?!.*\bdefault\b).*\bnot null\b/, "the version before does not write it: give it a default"],
  [
    /\badd (constraint\b.*)?(check|unique|primary key|foreign key|exclude)\b/,
    "the version before writes rows that violate it",
  ],
  [/\bcreate unique index\b/, "the version before writes rows that violate it"],
];

/** Statements that stop calls for long. */
const blocking: readonly (readonly [RegExp, string])[] = [
  [
    /^(update|delete|truncate|lock|cluster|reindex|vacuum)\b/,
    "it locks rows or tables for long: convert rows in a job, in batches",
  ],
];

/**
 * Finds what is wrong with a migration of a later release. A line `-- Unused since 0.2.0.` allows contractions, once no node before
 * that version can run.
 */
function findFaults(text: string, compatibleSince: string): string[] {
  const isOutside = text.startsWith("-- Outside of a transaction");
  const unusedSince = /^-- Unused since (\d+\.\d+\.\d+)\.$/m.exec(text)?.[1];
  const mayContract = unusedSince !== undefined && semver.lte(unusedSince, compatibleSince);
  const statements = text
    .replaceAll(/--.*$/gm, "")
    .split(/;\s*$/m)
    .map((each) => each.replaceAll(/\s+/g, " ").trim().toLowerCase())
    .filter((each) => each !== "");
  const created = new Set(statements.map((each) => /^create table (\w+)/.exec(each)?.[1]));
  return statements.flatMap((statement) => {
    const table = /^(?:alter table|create (?:unique )?index (?:concurrently )?\w+ on) (?:only )?(\w+)/.exec(
      statement,
    )?.[1];
    if (table !== undefined && created.has(table)) return [];
    const rules = [...(mayContract ? [] : contractions), ...blocking];
    const faults = rules.filter(([pattern]) => pattern.test(statement)).map(([, why]) => `${statement}: ${why}`);
    const isConcurrent = /^(create( unique)?|drop) index concurrently\b/.test(statement);
    if (isOutside && !isConcurrent)
      faults.push(`${statement}: outside of a transaction, only indexes are made and dropped`);
    if (/^create (unique )?index\b/.test(statement) && !isConcurrent) {
      faults.push(`${statement}: nobody can write meanwhile: create it concurrently, outside of a transaction`);
    }
    return faults;
  });
}

test("migrations after the first release keep the version before running, and calls", () => {
  const later = readdirSync(folder).filter((name) => name > firstRelease);
  for (const name of later) {
    assert.deepEqual(findFaults(readFileSync(join(folder, name), "utf8"), release.compatibleSince), [], name);
  }
  // Those of the upgrade test follow the same rules.
  for (const [name, text] of plantedMigrations(1)) assert.deepEqual(findFaults(text, "0.1.0"), [], name);
});

test("a statement that the version before cannot bear is found, until that version can no longer run", () => {
  const refused = [
    "alter table pools drop column name;",
    "alter table pools rename column name to title;",
    "alter table pools\n  alter column name set not null;",
    "alter table pools alter column name drop default;",
    "alter table pools alter column name type varchar;",
    "alter table pools add column size integer not null;",
    "alter table pools add constraint small check (size < 5);",
    "drop table pools;",
    "create function f() returns int language sql return 1;\ndrop function g();",
  ];
  for (const text of refused) {
    assert.equal(findFaults(text, "0.2.0").length, 1, text);
    assert.equal(findFaults(`-- Unused since 0.3.0.\n${text}`, "0.2.0").length, 1, text);
    assert.deepEqual(findFaults(`-- Unused since 0.2.0.\n${text}`, "0.2.0"), []);
  }
  for (const text of ["create index pools_size on pools (size);", "update pools set size = 1;", "lock table pools;"]) {
    assert.equal(findFaults(`-- Unused since 0.1.0.\n${text}`, "0.2.0").length, 1, text);
  }
  assert.equal(
    findFaults("-- Outside of a transaction, for its size.\nalter table a add column b int;", "0.1.0").length,
    1,
  );
});

test("what only adds is allowed", () => {
  const allowed = [
    "create table a (b int not null check (b > 0));\ncreate unique index a_b on a (b);\nalter table a add unique (b);",
    "alter table pools add column size integer not null default 0;",
    "alter table pools add column size integer;",
    "alter table pools drop constraint small;",
    "-- Outside of a transaction.\ndrop index concurrently if exists i;\ncreate index concurrently i on pools (size);",
  ];
  for (const text of allowed) assert.deepEqual(findFaults(text, "0.1.0"), [], text);
});

test("the oldest version that runs beside this one is the minor version before it, by the changelog", () => {
  const changelog = readFileSync(join(folder, "../CHANGELOG.md"), "utf8");
  const minors = Array.from(changelog.matchAll(/^## (\d+\.\d+)\./gm), ([, minor]) => `${minor}.0`);
  const isListed = semver.satisfies(release.version, `~${minors[0]}`, { includePrerelease: true });
  assert.ok(isListed, `CHANGELOG.md begins with ${minors[0]}, and package.json is ${release.version}`);
  const before = minors.find((minor) => minor !== minors[0]) ?? minors[0];
  assert.equal(release.compatibleSince, before, "compatibleSince in package.json");
});
