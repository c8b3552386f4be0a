import type { CaseContext, Json } from "../sandbox/index.ts";

/** Publishes a version of the case's definition, and returns its key. */
export async function publish(context: CaseContext, steps: readonly object[], output?: unknown): Promise<string> {
  const key = context.name();
  const document = { dsl: "1", key, timeout: "1h", steps, ...(output !== undefined && { output }) };
  await context.data("POST", "/api/workflow-definitions:import", { text: JSON.stringify(document) });
  await context.data("POST", `/api/workflow-definitions/${key}/publish`, {});
  return key;
}

/** Starts a run and returns it. */
export async function startRun(context: CaseContext, definition: string): Promise<Json> {
  return (await context.data("POST", "/api/workflow-runs", { definition })).run;
}

/** Reads a run when it has ended. */
export async function readEndedRun(context: CaseContext, runId: string): Promise<Json> {
  const read = () => context.data("GET", `/api/workflow-runs/${runId}?wait_s=5`);
  return context.until(read, ({ ended_at }) => ended_at !== undefined);
}

/** Sends an event to a run. */
export function signalRun(context: CaseContext, runId: string, event: string): Promise<Json> {
  return context.data("POST", `/api/workflow-runs/${runId}/signal`, { event });
}

/** The kinds of a run's history entries, in order. */
export async function readHistory(context: CaseContext, runId: string): Promise<string[]> {
  const advances = await context.data("GET", `/api/workflow-runs/${runId}/history`);
  return advances.flatMap(({ entries }: Json) => entries.map(({ kind }: Json) => kind));
}

/** Leases the next task of a queue. */
export async function pollTask(context: CaseContext, queue: string, workerId: string): Promise<Json> {
  const request = { queue, worker_id: workerId, wait_s: 5, capabilities: [{ type: "work" }] };
  const poll = () => context.data("POST", "/api/workflow-tasks:poll", request);
  const { tasks } = await context.until(poll, ({ tasks: found }) => found.length > 0);
  return context.need("a task becomes ready", tasks[0]);
}

/** Completes a task, and returns the status of the report. */
export async function completeTask(context: CaseContext, { task_id, token }: Json, output: object): Promise<string> {
  const completions = [{ task_id, token, output }];
  return (await context.data("POST", "/api/workflow-tasks:complete", { completions })).results[0].status;
}
