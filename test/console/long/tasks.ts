import type { Page } from "playwright-core";
import type { Client } from "../../../clients/typescript/src/client.ts";
import { until } from "../../harness/until.ts";
import { pick } from "../console-browser.ts";

/** Approves the first approval. */
export async function decideApproval(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/workflows?tab=approvals`);
  await page.getByRole("button", { name: "Approve" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await page.getByText("You approved it.").waitFor();
}

/** Retries the dead letters of a pool that has some. */
export async function retryDeadLetters(page: Page, root: string, client: Client): Promise<void> {
  const pools = await client.pools.list({ limit: 10 }).take(10);
  const withDead = async () => {
    for (const { id } of pools) if ((await client.deadLetters.getStats({ pool_id: id })).depth > 0) return id;
    return undefined;
  };
  await until(async () => (await withDead()) !== undefined);
  await page.goto(`${root}/dead-letters?pool=${await withDead()}`);
  await page.getByLabel("Select all loaded rows").check();
  await page.getByRole("button", { name: /^Retry \d+$/ }).click();
  await page.getByText("The dead letters are tried again.").waitFor();
}

/** Pauses a queue for some time, and resumes it before. */
export async function pauseQueue(page: Page, root: string, client: Client): Promise<void> {
  const [pool] = await client.pools.list({ limit: 1 }).take(1);
  await page.goto(`${root}/queues/${pool!.id}`);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByLabel("Reason").fill("a test");
  await page.getByLabel("For · optional").fill("10 min");
  await page.getByRole("button", { name: "Pause queue" }).click();
  await page.getByText(/none is handed out\. The queue resumes by itself at /).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("The queue hands out items again.").waitFor();
}

/** Replays a decision, and asks what would be decided now. */
export async function replayDecision(page: Page, root: string, client: Client): Promise<void> {
  const [decision] = await client.routing.listDecisions().take(1);
  await page.goto(`${root}/decisions/${decision!.decision_id}`);
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("gives the identical decision").waitFor();
  await page.getByRole("button", { name: "What if…" }).click();
  await page.getByRole("button", { name: "Decide without storing" }).click();
  await page.getByRole("heading", { name: "What would be decided now" }).waitFor();
}

/** Sends a notification to somebody who does not want mail. */
export async function sendNotification(page: Page, root: string): Promise<void> {
  await page.goto(`${root}/notifications`);
  await page.getByRole("button", { name: "Send" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Workflow").selectOption("order.shipped");
  await pick(dialog, "Subscriber", "Hedy Lamarr");
  await dialog.getByLabel(/^order/).fill("A-1");
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText("The notification was triggered.").waitFor();
  await dialog.getByRole("link", { name: "Open the messages" }).click();
  await page.getByRole("cell", { name: "Skipped" }).first().waitFor();
}

/** Changes a template and sees the preview. */
export async function changeTemplate(page: Page, root: string, subject: string): Promise<void> {
  await page.goto(`${root}/notifications/workflows/order.shipped`);
  await page.getByLabel("Subject").fill(`${subject} {{payload.order}}`);
  await page.getByText(`${subject} A-4711`).waitFor();
  await page.getByRole("button", { name: "Save templates" }).click();
  await page.getByText("The templates were saved.").waitFor();
}

/** Creates an API key, which is shown once. */
export async function createKey(page: Page, root: string, name: string): Promise<void> {
  await page.goto(`${root}/keys`);
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByText(/^sk_/).waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("cell", { name }).waitFor();
}

/** Sees a candidate with its timeline, approves it, and sees that in the timeline. */
export async function approveCandidate(page: Page, root: string, name: string): Promise<void> {
  await page.goto(`${root}/promotions`);
  await page.locator("a.row-link", { hasText: name }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  const timeline = page.locator("ol.steps");
  for (const call of ["Create", "Preflight", "Evaluate guardrails", "Start canary", "Stop canary"]) {
    await timeline.getByText(call, { exact: true }).first().waitFor();
  }
  await page.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What did you check?").fill("The canary and the rules.");
  await dialog.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Your approval is recorded.").waitFor();
  await timeline.getByText("Approve", { exact: true }).waitFor();
}

/** Sends a query and sees its chart. */
export async function queryAnalytics(page: Page, root: string, query: string, series: string): Promise<void> {
  await page.goto(`${root}/analytics`);
  await page.getByLabel("Query, in PromQL").fill(query);
  await page.getByRole("button", { name: "Query" }).click();
  const chart = page.getByRole("img", { name: "Result of the query" });
  await chart.waitFor();
  await page.getByText(series).first().waitFor();
}
