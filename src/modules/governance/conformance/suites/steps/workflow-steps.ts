import type { CaseContext, Json } from "../../sandbox/index.ts";

/** Publishes a version of the case's definition, and returns its key. */
export async function publish(
  context: CaseContext,
  steps: readonly object[],
  output?: unknown,
  fields: object = {},
): Promise<string> {
  const key = context.name();
  const document = { dsl: "1", key, timeout: "1h", steps, ...(output !== undefined && { output }), ...fields };
  await context.data("POST", "/api/workflow-definitions:import", { text: JSON.stringify(document) });
  await context.data("POST", `/api/workflow-definitions/${key}/publish`, {});
  return key;
}

export async function startRun(context: CaseContext, definition: string): Promise<Json> {
  return (await context.data("POST", "/api/workflow-runs", { definition })).run;
}

/** Reads a run when it has ended. */
export async function readEndedRun(context: CaseContext, runId: string): Promise<Json> {
  const read = () => context.data("GET", `/api/workflow-runs/${runId}?wait_s=5`);
  return context.until(read, ({ ended_at }) => ended_at !== undefined);
}

/** Sends an event to a run. */
export function signalRun(context: CaseContext, runId: string, event: string, fields: object = {}): Promise<Json> {
  return context.data("POST", `/api/workflow-runs/${runId}/signal`, { event, ...fields });
}

/** The kinds of a run's history entries, in order. */
export async function readHistory(context: CaseContext, runId: string): Promise<string[]> {
  const advances = await context.data("GET", `/api/workflow-runs/${runId}/history`);
  return advances.flatMap(({ entries }: Json) => entries.map(({ kind }: Json) => kind));
}

/** Leases a task of a queue, unless none is ready within the wait. */
export async function findTasks(context: CaseContext, queue: string, waitS: number, workerId = "w"): Promise<Json[]> {
  const request = { queue, worker_id: workerId, wait_s: waitS, capabilities: [{ type: "work" }] };
  return (await context.data("POST", "/api/workflow-tasks:poll", request)).tasks;
}

/** Leases the next task of a queue. */
export async function pollTask(context: CaseContext, queue: string, workerId = "w"): Promise<Json> {
  const poll = () => findTasks(context, queue, 5, workerId);
  return context.need("a task becomes ready", (await context.until(poll, (tasks) => tasks.length > 0))[0]);
}

/** Reports a failed attempt. */
export function failTask(context: CaseContext, { task_id, token }: Json, fields: object): Promise<Json> {
  return context.data("POST", "/api/workflow-tasks:fail", { failures: [{ task_id, token, ...fields }] });
}

/** Completes a task, and returns the status of the report. */
export async function completeTask(context: CaseContext, { task_id, token }: Json, output: object): Promise<string> {
  const completions = [{ task_id, token, output }];
  return (await context.data("POST", "/api/workflow-tasks:complete", { completions })).results[0].status;
}
