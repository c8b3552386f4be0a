import { freshName, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

/** Publishes a workflow that waits for an event for an hour; returns its key. */
export async function publishWaiting(tenant: TenantFixture, event = "never"): Promise<string> {
  const key = freshName();
  const steps = [{ id: "wait", wait_event: { event, timeout: "1h" } }];
  const document = { dsl: "1", key, timeout: "1h", steps };
  const { id } = (await tenant.ok("POST", "/api/workflow-definitions", { document })).data;
  await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  return key;
}

/** Starts a run that waits; returns its id. */
export async function startRun(tenant: TenantFixture, definition: string): Promise<string> {
  return (await tenant.ok("POST", "/api/workflow-runs", { definition })).data.run.id;
}

/** A stream in a test. */
export interface TestStream {
  readonly id: string;
  readonly runId: string;
  readonly path: string;
  readonly stream: ResponseData;
}

/** Creates a stream of a new run. */
export async function newStream(tenant: TenantFixture, pins: object = {}, definition?: string): Promise<TestStream> {
  const runId = await startRun(tenant, definition ?? (await publishWaiting(tenant)));
  const base = `/api/workflow-streams/runs/${runId}/streams`;
  const stream = (await tenant.ok("POST", base, { name: "audit", pins })).data;
  return { id: stream.id, runId, path: `${base}/${stream.id}`, stream };
}
