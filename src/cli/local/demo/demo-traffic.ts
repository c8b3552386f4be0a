import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../../../clients/typescript/src/client.ts";
import { scoreUnits, subscriberIds } from "./demo-engagement.ts";
import type { DemoPools } from "./demo-routing.ts";
import { taskQueue } from "./demo-workflows.ts";

interface Dependencies {
  readonly client: Client;
  readonly pools: DemoPools;
  readonly experimentId: string;
  readonly signal: AbortSignal;
  /** Called with an error of the traffic. It continues. */
  readonly onError: (error: unknown) => void;
}

const approvalsKept = 4;
/** The start of the keys of the runs that the traffic starts. Those of visitors are left to them. */
const ownRuns = "demo-";
const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)]!;
const chance = (share: number) => Math.random() < share;

/** Keeps light traffic going until the signal is aborted. */
export async function runTraffic({ client, pools, experimentId, signal, onError }: Dependencies): Promise<void> {
  /** Repeats a step with pauses of about this length. */
  async function every(ms: number, step: () => Promise<unknown>): Promise<void> {
    while (!signal.aborted) {
      await step().catch((error) => {
        if (!signal.aborted) onError(error);
      });
      await delay(ms * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
    }
  }
  const call = { signal };

  const route = () =>
    client.routing.routeBatch(
      {
        items: [
          {
            pool_id: pools.tickets,
            type: oneOf(["question", "bug", "refund"]),
            key: `customer-${Math.floor(Math.random() * 40)}`,
            attributes: { language: oneOf(["de", "en"]), severity: chance(0.1) ? "outage" : "normal" },
            payload: { subject: oneOf(["Where is my order?", "The app is slow", "Please cancel"]) },
          },
          {
            pool_id: pools.leads,
            type: "lead",
            key: `lead-${crypto.randomUUID()}`,
            attributes: { tier: oneOf(["gold", "silver"]), ...(!chance(0.08) && { email: "lead@example.org" }) },
          },
          {
            pool_id: pools.models,
            type: "completion",
            attributes: { customer: oneOf(["acme", "globex"]), tokens: Math.floor(Math.random() * 9000) },
          },
        ],
      },
      call,
    );

  async function work(pool_id: string): Promise<void> {
    const { items } = await client.work.leaseItems(
      { pool_id, max_items: 4, wait_s: 5 },
      { ...call, timeoutMs: 20_000 },
    );
    await delay(400 + Math.random() * 1500, undefined, { signal });
    await Promise.all(
      items.map(({ queue_item_id, lease_token, type }) => {
        const item = { pool_id, queue_item_id, lease_token };
        const isHopeless = type === "bug" && chance(0.15);
        if (!isHopeless && !chance(0.12)) return client.work.completeItem({ ...item, score: Math.random() }, call);
        const failure = {
          reason_code: oneOf(["timeout", "upstream_503"]),
          reason: "The other system did not answer in time.",
        };
        return client.work.failItem({ ...item, ...failure, retryable: !isHopeless }, call);
      }),
    );
  }

  const startRun = () =>
    client.workflowRuns.start(
      {
        definition: chance(0.2) ? "nightly.report" : "refund",
        run_key: `${ownRuns}${crypto.randomUUID()}`,
        input: {
          order: `A-${1000 + Math.floor(Math.random() * 9000)}`,
          amount: Math.floor(Math.random() * 320),
          reason: oneOf(["damaged", "late", "wrong size"]),
          customer: oneOf(subscriberIds),
        },
      },
      call,
    );

  async function workTasks(): Promise<void> {
    const { tasks } = await client.workflowTasks.poll(
      {
        queue: taskQueue,
        worker_id: "demo",
        build_id: "demo-1",
        slots: 4,
        wait_s: 5,
        capabilities: ["order.check", "payment.refund", "report.collect"].map((type) => ({
          type,
          versions: ["1.0.0"],
        })),
      },
      { ...call, timeoutMs: 20_000 },
    );
    if (tasks.length === 0) return;
    await delay(600, undefined, { signal });
    const declined = tasks.filter(({ type }) => type === "payment.refund" && chance(0.12));
    const completed = tasks.filter((task) => !declined.includes(task));
    if (declined.length > 0) {
      await client.workflowTasks.fail({
        failures: declined.map(({ task_id, token }) => ({
          ...{ task_id, token, code: "declined", message: "The bank declined the payment.", retryable: false },
        })),
      });
    }
    if (completed.length > 0) {
      await client.workflowTasks.complete({
        completions: completed.map(({ task_id, token, type }) => ({ task_id, token, output: { done: type } })),
      });
    }
  }

  /** Decides the oldest of its own approvals. Keeps a few open, so that there are some to decide in the console. */
  async function decide(): Promise<void> {
    const open = await client.workflowApprovals.list({ limit: 50 }, call).take(50);
    const [oldest, ...others] = open.filter(({ run_key }) => run_key.startsWith(ownRuns));
    if (oldest === undefined || others.length < approvalsKept) return;
    const { run_id, step } = oldest;
    await client.workflowApprovals.decide({ run_id, step, approved: !chance(0.2), comment: "Checked." }, call);
  }

  const notify = () =>
    client.notifications.trigger(
      {
        workflow_key: "order.shipped",
        subscriber_external_id: oneOf(subscriberIds),
        payload: { order: `A-${Math.floor(Math.random() * 9000)}` },
      },
      call,
    );

  const publish = () =>
    client.events.publish(
      {
        type: oneOf(["order.paid", "order.shipped"]),
        subject: `A-${Math.floor(Math.random() * 9000)}`,
        data: { amount: 42 },
      },
      call,
    );

  const visit = () =>
    scoreUnits(
      client,
      experimentId,
      Array.from({ length: 5 }, () => `visitor-${crypto.randomUUID()}`),
    );

  await Promise.all([
    every(900, route),
    ...Object.values(pools).map((poolId) => every(300, () => work(poolId))),
    every(7_000, startRun),
    every(500, workTasks),
    every(4_000, decide),
    every(5_000, notify),
    every(4_000, publish),
    every(3_000, visit),
  ]);
}
