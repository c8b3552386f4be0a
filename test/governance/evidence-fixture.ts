import { createHash } from "node:crypto";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { connect } from "../harness/postgres-server.ts";
import type { TestService } from "../harness/service.ts";
import { freshName, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

const base = "/api/rollout-evidence";

/** The SHA-256 of a text. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A new version of an artifact. */
export function artifactOf(kind: string, name: string, version = "1") {
  return { kind, name, version, sha256: sha256(`${kind} ${name} ${version}`) };
}

/** The id of an environment by its key. */
export async function environmentId(tenant: TenantFixture, key: string): Promise<string> {
  const { data } = await tenant.ok("GET", "/api/v2/environments");
  return data.find((each: ResponseData) => each.key === key).id;
}

/** Stores a conformance report as a run would; returns the fields of a runtime receipt about it. */
export async function storeReport(
  { databaseUrl }: TestService,
  { id: tenantId }: TenantFixture,
  environment: string,
  fields = {},
) {
  const { verdict, at } = { verdict: "passed", at: new Date(), ...fields };
  const runId = ulid(at.getTime());
  const status = verdict === "incomplete" ? "blocked" : verdict;
  const content = { build: { version: "1.0.0" }, cases: [{ caseId: "admission.window", status }] };
  const sql = connect(databaseUrl, 1);
  await sql`
    insert into conformance_reports (tenant_id, environment_id, id, environment_key, suite_id, mode, verdict, content,
      last_run_id, first_produced_at, last_produced_at)
    values (${tenantId}, ${environment}, ${sha256(runId)}, 'any', 'runtime', 'dry_run', ${verdict}, ${sql.json(content)},
      ${runId}, ${at}, ${at})`.finally(() => sql.end());
  return { report_id: sha256(runId), result: status };
}

/** Ends the validity of a receipt, as if its time had passed. */
export async function expireReceipt({ databaseUrl }: TestService, { id }: ResponseData): Promise<void> {
  const sql = connect(databaseUrl, 1);
  await sql`update evidence_receipts set expires_at = now() where id = ${id}`.finally(() => sql.end());
}

/** A pack with helpers. */
export interface TestPack {
  readonly id: string;
  readonly environmentId: string;
  readonly path: string;
  /** The path of a run of the pack. */
  runPath(runId: string): string;
  add(artifact: object): Promise<ResponseData>;
  /** Adds a receipt about artifacts. */
  receipt(type: string, subjects: readonly object[], fields?: object): Promise<ResponseData>;
  startRun(fields?: object): Promise<ResponseData>;
  gate(): Promise<ResponseData>;
  explain(): Promise<ResponseData>;
}

/** Creates a pack. */
export async function createPack(tenant: TenantFixture, environment: string, fields: object = {}): Promise<TestPack> {
  const { data } = await tenant.ok("POST", `${base}/packs`, {
    environment_id: environment,
    name: freshName(),
    ...fields,
  });
  const path = `${base}/packs/${environment}/${data.id}`;
  return {
    id: data.id,
    environmentId: environment,
    path,
    runPath: (runId) => `${base}/runs/${environment}/${runId}`,
    add: async (artifact) => (await tenant.ok("POST", `${path}/artifacts`, { artifact })).data,
    receipt: async (type, subjects, more = {}) =>
      (await tenant.ok("POST", `${path}/receipts`, { type, result: "passed", subjects, ...more })).data,
    startRun: async (more = {}) =>
      (await tenant.ok("POST", `${path}/runs`, { type: "graph", mode: "sandbox", claim: true, ...more })).data,
    gate: async () => (await tenant.ok("POST", `${path}/gate:evaluate`, {})).data,
    explain: async () => (await tenant.ok("POST", `${path}:explain`, {})).data,
  };
}

/** The reasons of a gate as `requirement reason`. */
export function reasonsOf({ reasons }: ResponseData): string[] {
  return reasons.map(({ requirement_id, reason }: ResponseData) => `${requirement_id} ${reason}`);
}
