import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { insecureSettings } from "../../src/config/index.ts";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-doctor-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const { url: testUrl, sql, drop } = await freshDatabase();
after(drop);
const durable = await startEmbedded({ dataDir: folder });
after(durable.stop);
const { url } = durable;
const issuer = await startStub();
const discovery = (named: string) => ({ json: { issuer: named, jwks_uri: `${issuer.address}/keys` } });

const sound = [
  "server.internal_addr=127.0.0.1:0",
  "auth.api_key_enabled=true",
  `database.url=${url}`,
  `connector.encryption_key=${randomBytes(32).toString("base64")}`,
];
const closed = [
  "authz.allow_when_unconfigured=false",
  "ratelimit.fail_mode=closed",
  "ratelimit.tenant_rps=100",
  "audit.sink=stderr",
  "egress.mode=enforce",
  "entitlement.enforcement=strict",
];
const doctor = (pairs: readonly string[], ...more: string[]) =>
  cli(["doctor", ...pairs.flatMap((pair) => ["--set", pair]), ...more]);

test("the report is ok without failures, and in strict mode only without insecure settings", async () => {
  const lenient = await doctor(sound);
  assert.equal(lenient.exitCode, 0, lenient.out);
  assert.match(lenient.out, /^ok {4}database: PostgreSQL \d+ responds$/m);
  assert.equal((await doctor(sound, "--strict")).exitCode, 1);
  const strict = await doctor([...sound, ...closed], "--strict");
  assert.equal(strict.exitCode, 0, strict.out);
  assert.match(strict.out, /no insecure settings/);
});

test("every insecure setting is listed with its consequence", async () => {
  const open = [
    "auth.enabled=false",
    "auth.allow_anonymous=true",
    "authz.provider=none",
    "api.allowed_hosts=*",
    "cors.allowed_origins=*",
    "notification.outbox.enabled=true",
    "cache.backend=none",
    "auth.bcrypt_cost=4",
    "auth.bootstrap_api_key=sk_live_boss_short-one",
    "egress.allowed_ip_nets=10.0.0.0/8,::/0",
    "audit.hash_chain=false",
    "analytics.allow_unscoped_metrics=true",
    `api.oidc_issuer=${issuer.address}`,
    "api.oidc_audience=a",
  ];
  issuer.answers(discovery(issuer.address));
  const { exitCode, out } = await doctor([...sound, ...open], "--json");
  assert.equal(exitCode, 0);
  assert.doesNotMatch(out, /short-one/, "secrets are not shown");
  const { ok, findings } = JSON.parse(out);
  assert.equal(ok, true);
  for (const { key, risk } of insecureSettings) {
    const finding = findings.find(
      ({ check, message }: { check: string; message: string }) => check === key && message.includes(risk),
    );
    assert.equal(finding?.status, "warn", key);
    assert.ok(finding.remedy.includes(key));
  }
  const remedies = findings.map(({ remedy }: { remedy?: string }) => remedy);
  assert.ok(remedies.includes("Set auth.enabled to true, unless this is intended."));
  assert.ok(remedies.includes("auth.bcrypt_cost must be at least 10, unless this is intended."));
});

test("settings of the server that harm are named, and the service starts with them", async () => {
  // The server of the tests has no durability.
  const { exitCode, out } = await doctor([...sound, `database.url=${testUrl}`, "database.max_connections=500"]);
  assert.equal(exitCode, 0, out);
  assert.match(out, /^warn {2}database: fsync is off: a crash of its machine can destroy the database$/m);
  assert.match(out, /^warn {2}database: it allows \d+ connections, and a node may open 503$/m);
  const lossy = await doctor([...sound, `database.url=${testUrl}?synchronous_commit=off`]);
  assert.match(lossy.out, /^warn {2}database: synchronous_commit is off: a crash loses work that was acknowledged$/m);
});

test("a role that may not create tables is a failure, in the report and at the start", async (t) => {
  await sql.unsafe(
    `create role doctor_guest login; grant connect on database ${new URL(testUrl).pathname.slice(1)} to doctor_guest`,
  );
  t.after(() => sql.unsafe("drop owned by doctor_guest; drop role doctor_guest"));
  const guest = [...sound, `database.url=${Object.assign(new URL(testUrl), { username: "doctor_guest" }).href}`];
  const { exitCode, out } = await doctor(guest);
  assert.equal(exitCode, 1);
  assert.match(out, /^fail {2}database: the role doctor_guest lacks a privilege: it may not create tables in public$/m);
  assert.match(out, /Make doctor_guest the owner of the database/);
  const started = await cli(["serve", ...guest.flatMap((pair) => ["--set", pair])]);
  assert.equal(started.exitCode, 78);
  assert.match(started.err, /the role doctor_guest lacks a privilege/);
});

test("every setting that cannot be resolved is a separate failure", async () => {
  const { exitCode, out } = await doctor(["log.level=loud", "auth.enabled=perhaps"], "--json");
  assert.equal(exitCode, 1);
  const { findings } = JSON.parse(out);
  assert.deepEqual(
    findings.map(({ status, check }: { status: string; check: string }) => [status, check]),
    [
      ["fail", "log.level"],
      ["fail", "auth.enabled"],
    ],
  );
  assert.match(findings[0].message, /^must be one of/);
});

for (const [what, pairs, finding] of [
  [
    "a database that does not respond",
    ["database.url=postgres://u@127.0.0.1:1/x"],
    /^fail {2}database: .*ECONNREFUSED/m,
  ],
  ["an invalid master key", ["connector.encryption_key=abcd"], /^fail {2}connector\.encryption_key: .*32/m],
  [
    "a cache that does not respond, where calls need it",
    ["cache.backend=redis", "cache.redis_url=redis://127.0.0.1:1", "ratelimit.fail_mode=closed"],
    /^fail {2}cache\.backend: the cache does not respond/m,
  ],
  [
    "an issuer that does not respond",
    ["api.oidc_issuer=http://127.0.0.1:1", "api.oidc_audience=a"],
    /^fail {2}api\.oidc_issuer: the issuer does not respond/m,
  ],
  [
    "an audit log path that is not a directory",
    ["audit.sink=file", `audit.path=${join(import.meta.filename, "audit.log")}`],
    /^fail {2}audit\.path: .* is not a writable directory/m,
  ],
] as const) {
  test(`${what} is a failure with advice`, async () => {
    const { exitCode, out } = await doctor([...sound, ...pairs]);
    assert.match(out, finding);
    assert.equal(exitCode, 1, out);
    assert.match(out, /^ {6}-> /m);
  });
}

test("the issuer's discovery document is fetched, and its issuer must equal the setting", async () => {
  const pairs = [...sound, `api.oidc_issuer=${issuer.address}`, "api.oidc_audience=a"];
  issuer.answers(discovery(issuer.address));
  assert.match((await doctor(pairs)).out, /^ok {4}api\.oidc_issuer: the issuer responds$/m);
  assert.equal(issuer.arrived[0]!.target, "/.well-known/openid-configuration");
  issuer.answers(discovery("https://other.example"));
  const other = await doctor(pairs);
  assert.equal(other.exitCode, 1);
  assert.match(other.out, /the issuer identifies itself as https:\/\/other\.example/);
});

test("settings that admit no caller are a warning", async () => {
  const { out } = await doctor([...sound, "auth.api_key_enabled=false"]);
  assert.match(out, /^warn {2}auth: neither API keys nor tokens are accepted/m);
});

test("an external database without a master key cannot store secrets", async () => {
  const { exitCode, out } = await doctor([...sound, "connector.encryption_key="]);
  assert.equal(exitCode, 0);
  assert.match(out, /^warn {2}connector\.encryption_key: no master key is set/m);
});

test("before the first start the embedded PostgreSQL is checked without creating files in the data folder", async () => {
  const dataDir = join(folder, "data");
  const { exitCode, out } = await doctor([
    ...sound,
    "database.url=",
    "connector.encryption_key=",
    `data.dir=${dataDir}`,
  ]);
  assert.equal(exitCode, 0, out);
  assert.match(out, /^ok {4}database: PostgreSQL \d+ responds$/m);
  assert.match(out, /^ok {4}connector\.encryption_key: a master key is generated at the next start$/m);
  assert.ok(!existsSync(dataDir));
});
