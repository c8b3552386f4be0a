import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { browserTest, waitUntil, withPictures } from "../../browser/browser-test.ts";
import { findChromium } from "../../browser/chromium.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { stagedPool } from "../../promotions/promotion-fixture.ts";
import { newTenant, type TenantFixture } from "../../routing/tenant-fixture.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  overflowPx,
  startConsoleBrowser,
  waitForContent,
} from "../console-browser.ts";
import {
  answerOffers,
  cancelItems,
  cancelTrigger,
  createCandidate,
  createSchedule,
  operateSchedule,
  publishLike,
  retryAllKinds,
  retryByFilter,
  startRun,
  suppressAddress,
} from "./operator-tasks.ts";

const program = await findChromium();
assert.ok(program !== undefined, "There is no Chromium. Install it, or set CHROMIUM.");

const messageLetters = "/api/v2/notifications/dead-letters";
const workflow = "/api/v2/notification/workflows/order.late";

describe("what an operator does in the console", () => {
  let service: TestService;
  let browser: ConsoleBrowser;
  let tenant: TenantFixture;
  let page: Page;
  let root: string;

  before(async () => {
    service = await startService({ "notification.outbox.enabled": "true" });
    tenant = await newTenant(service);
    browser = await startConsoleBrowser(program);
    await withPictures(async () => {
      ({ page, root } = await browser.signIn(service.baseUrl, tenant.key));
    });
  });

  async function publishWorkflow(document: { key: string; [name: string]: unknown }): Promise<void> {
    await tenant.ok("POST", "/api/workflow-definitions", { document });
    await tenant.ok("POST", `/api/workflow-definitions/${document.key}/publish`, {});
  }

  /** Opens a page at the width of a phone, and at the usual one. Nothing may be cut off, and everybody can use it. */
  async function look(path: string, name: string): Promise<void> {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 860 });
      await page.goto(`${root}/${path}`);
      await page.locator("h1").waitFor();
      await waitForContent(page);
      const folder = process.env.SCREENSHOTS;
      if (folder !== undefined) writeFileSync(join(folder, `${name}-${width}.png`), await page.screenshot());
      assert.equal(await overflowPx(page), 0, `${path} is wider than ${width} px`);
      assert.deepEqual(await page.locator('.notice[data-tone="bad"]').allInnerTexts(), [], path);
    }
    assert.deepEqual(await accessibilityViolations(page), []);
  }

  browserTest("a schedule is created with a preview of its times, fired, paused, changed and deleted", async () => {
    await look("schedules", "schedules-empty");
    const poolId = await tenant.pool({ name: "reports" });
    await createSchedule(page, root, "reports", "morning report");
    const { data } = await tenant.ok("GET", "/api/schedules");
    assert.deepEqual(
      [data[0].timing.cron, data[0].timing.timezone, data[0].item.pool_id],
      ["0 9 * * 1-5", "Europe/Berlin", poolId],
    );
    await look("schedules", "schedules");
    await look(`schedules/${data[0].id}`, "schedule");
    await operateSchedule(page, "morning report");
    assert.deepEqual((await tenant.ok("GET", "/api/schedules")).data, []);
    assert.equal((await tenant.status(poolId)).depth, 1, "the fired item stays");
  });

  browserTest("a change of a schedule keeps the parts of its item that the form does not show", async () => {
    const poolId = await tenant.pool({ name: "kept" });
    const item = { pool_id: poolId, type: "report", ttl_s: 900, attributes: { language: "de" } };
    const created = await tenant.ok("POST", "/api/schedules", {
      name: "kept parts",
      timing: { cron: "0 9 * * *", jitter_s: 30, end_at: "2099-01-01T00:00:00Z" },
      item,
    });
    const before = created.data;
    await page.goto(`${root}/schedules/${before.id}`);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Key").fill("acme");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("The schedule was changed.").waitFor();
    const { data: after } = await tenant.ok("GET", `/api/schedules/${before.id}`);
    assert.deepEqual(after.timing, before.timing);
    assert.deepEqual(after.item, { ...before.item, key: "acme" });
  });

  browserTest("an address is suppressed and sent to again", async () => {
    await look("notifications?tab=suppressions", "suppressions-empty");
    await tenant.ok("POST", "/api/v2/notification/suppressions", { channel: "sms", identity: "+4915112345678" });
    await look("notifications?tab=suppressions", "suppressions");
    const { data } = await tenant.ok("GET", "/api/v2/notification/suppressions");
    await tenant.ok("DELETE", `/api/v2/notification/suppressions/${data[0].id}`);
    await suppressAddress(page, root, "ada@example.org");
    assert.deepEqual((await tenant.ok("GET", "/api/v2/notification/suppressions")).data, []);
  });

  browserTest("an item shows its progress while a worker has it, and its result afterwards", async () => {
    const poolId = await tenant.pool({ name: "long work" });
    await tenant.recipient(poolId);
    await tenant.route(poolId);
    const leased = await tenant.leaseOne(poolId);
    const item = `/api/queues/${poolId}/items/${leased.queue_item_id}`;
    const { lease_token } = leased;
    await tenant.ok("POST", `${item}/progress`, { lease_token, percent: 40, note: "page 2 of 5" });
    const path = `queues/${poolId}?open=${leased.queue_item_id}`;
    await look(path, "item-progress");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("40 %").waitFor();
    await dialog.getByText("page 2 of 5").waitFor();
    await tenant.ok("POST", `${item}/complete`, { lease_token, result: { pages: 5 } });
    await dialog.getByRole("region", { name: "Result of the item" }).getByText("pages").waitFor();
    await look(path, "item-result");
  });

  browserTest("items that match a filter are cancelled, with their number before and the progress after", async () => {
    const pool = { id: await tenant.pool({ name: "imports" }), name: "imports" };
    await look(`queues/${pool.id}?tab=bulk`, "bulk-empty");
    const types = ["double", "double", "double", "single"];
    await tenant.routeAll(types.map((type) => ({ pool_id: pool.id, type })));
    await cancelItems(page, root, pool, "double", 3);
    const { data } = await tenant.ok("GET", `/api/queues/${pool.id}/items?state=cancelled`);
    assert.deepEqual(
      data.map(({ type }: { type: string }) => type),
      ["double", "double", "double"],
    );
    await look(`queues/${pool.id}?tab=bulk`, "bulk");
    const [operation] = (await tenant.ok("GET", `/api/bulk-operations?pool_id=${pool.id}`)).data;
    await look(`queues/${pool.id}?tab=bulk&operation=${operation.id}`, "bulk-operation");
  });

  browserTest("dead letters that match a filter are retried", async () => {
    const poolId = await tenant.pool({ name: "mails", config: { retry: { max_attempts: 1 } } });
    await tenant.route(poolId, { type: "mail" });
    await tenant.fail(await tenant.leaseOne(poolId));
    await retryByFilter(page, root, poolId, "mail");
    assert.deepEqual(await tenant.deadLetters(poolId), []);
  });

  browserTest("what failed in a pool, a workflow and a notification is one list, and is retried together", async () => {
    const poolId = await tenant.pool({ name: "broken", config: { retry: { max_attempts: 1 } } });
    await tenant.route(poolId);
    await tenant.fail(await tenant.leaseOne(poolId));
    const steps = [{ id: "stop", fail: { code: "broken" } }];
    await publishWorkflow({ dsl: "1", key: "failing", timeout: "1h", steps });
    await tenant.ok("POST", "/api/workflow-runs", { definition: "failing", wait_s: 10 });
    await tenant.ok("PUT", "/api/v2/notification/workflows/empty", { channels: { in_app: { body: "{{payload.a}}" } } });
    await tenant.ok("POST", "/api/v2/notification/subscribers", { external_id: "eve", email: "eve@example.org" });
    const trigger = { workflow_key: "empty", subscriber_external_id: "eve", channels: ["email"] };
    await tenant.ok("POST", "/api/v2/notifications/trigger", trigger);
    await look("dead-letters", "dead-letters");
    await retryAllKinds(page, root);
    assert.deepEqual(await tenant.deadLetters(poolId), []);
    const [runs, messages] = [await tenant.ok("GET", "/api/workflow-dlq"), await tenant.ok("GET", messageLetters)];
    assert.deepEqual([runs.data[0]?.replay_count ?? 1, messages.data[0].redrive_count], [1, 1]);
  });

  browserTest("an event is published with the data of an earlier one", async () => {
    await tenant.ok("POST", "/api/events", {
      type: "order.paid",
      subject: "A-1",
      data: { amount: 5, currency: "EUR" },
    });
    await publishLike(page, root, "order.paid", 7);
    await waitForContent(page);
    assert.deepEqual(await accessibilityViolations(page), []);
    const { data } = await tenant.ok("GET", "/api/events?types=order.paid");
    assert.deepEqual([data[0].subject, data[0].data], ["A-1", { amount: 7, currency: "EUR" }]);
  });

  browserTest("a run is started with a form of the input that its workflow describes", async () => {
    const properties = {
      order: { type: "string" },
      pieces: { type: "integer", title: "Pieces" },
      express: { type: "boolean" },
    };
    const input_schema = { type: "object", properties, required: ["order"] };
    const steps = [{ id: "done", transform: { ok: true } }];
    await publishWorkflow({ dsl: "1", key: "ship", name: "Ship an order", timeout: "1h", input_schema, steps });
    await startRun(page, root, "Ship an order", "A-1");
    const [{ id }] = (await tenant.ok("GET", "/api/workflow-runs?definition_id=ship")).data;
    const { data } = await tenant.ok("GET", `/api/workflow-runs/${id}`);
    assert.deepEqual(data.input, { order: "A-1", pieces: 3, express: true });
    await page.goto(`${root}/workflows`);
    await page.getByRole("button", { name: "Start run" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Workflow").selectOption({ label: "Ship an order" });
    await dialog.getByLabel("Fill in from").selectOption({ index: 1 });
    await waitUntil(page, `[...document.querySelectorAll("dialog input")].some(({ value }) => value === "A-1")`);
    assert.deepEqual(await accessibilityViolations(page), []);
  });

  browserTest("an operator declines an offer for one recipient and accepts it for the next", async () => {
    const config = { reservation: { timeout_s: 600 } };
    const poolId = await tenant.pool({ name: "calls", strategy: "priority", config });
    await look(`queues/${poolId}?tab=offers`, "offers-empty");
    await tenant.recipient(poolId, { name: "Anna", priority: 1, capacity: 1 });
    const ben = await tenant.recipient(poolId, { name: "Ben", priority: 2, capacity: 1 });
    const { queue_item_id } = await tenant.route(poolId, { type: "call" });
    await look(`queues/${poolId}?tab=offers`, "offers");
    await answerOffers(page, root, poolId);
    const item = await tenant.item(poolId, queue_item_id);
    assert.deepEqual([item.state, item.recipient_id, item.offers[0].reason], ["leased", ben, "On a break"]);
    await look(`queues/${poolId}?open=${queue_item_id}`, "item-offers");
  });

  browserTest("a candidate is created from the versions of a pool", async () => {
    const { id, version } = await stagedPool(tenant);
    const { data: pool } = await tenant.ok("GET", `/api/pools/${id}`);
    await createCandidate(page, root, { pool: pool.name, version });
    const { data } = await tenant.ok("GET", "/api/promotions/candidates");
    assert.deepEqual([data[0].artifacts[0].target_id, data[0].artifacts[0].version], [id, version]);
    assert.deepEqual(data[0].guardrails, [{ metric: "success", limit: 0.9 }]);
  });

  browserTest("the steps of a workflow are shown, and templates that are saved keep them", async () => {
    const steps = [
      { key: "later", delay: { for_s: 3600 } },
      { key: "inbox", condition: "payload.days > 2", send: { channels: ["in_app"] } },
    ];
    const { data: before } = await tenant.ok("PUT", workflow, { channels: { in_app: { body: "Late." } }, steps });
    await look("notifications/workflows/order.late?tab=steps", "steps");
    await page.getByText("Wait for 1 h").waitFor();
    await page.getByText("payload.days > 2").waitFor();
    await page.getByRole("link", { name: "Templates" }).click();
    await page.getByLabel("Body").fill("It is late.");
    await page.getByRole("button", { name: "Save templates" }).click();
    await page.getByText("The templates were saved.").waitFor();
    const { data: after } = await tenant.ok("GET", workflow);
    assert.equal(after.channels.in_app.body, "It is late.");
    assert.deepEqual(after.steps, before.steps);
  });

  browserTest("templates that are not saved are tried on recorded triggers, with examples to open", async () => {
    const path = "/api/v2/notification/workflows/order.packed";
    await tenant.ok("PUT", path, { channels: { in_app: { body: "Packed: {{payload.n}}." } } });
    await tenant.ok("POST", "/api/v2/notification/subscribers", { external_id: "packer" });
    for (const n of [1, 2, 3]) {
      const trigger = { workflow_key: "order.packed", subscriber_external_id: "packer", payload: { n } };
      await tenant.ok("POST", "/api/v2/notifications/trigger", trigger);
    }
    await page.goto(`${root}/notifications/workflows/order.packed`);
    await page.getByLabel("Body").fill("Parcel {{payload.n}} is packed.");
    await page.getByRole("button", { name: "Try on recorded triggers" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("3 of 3").waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    const { data } = await tenant.ok("GET", path);
    assert.equal(data.channels.in_app.body, "Packed: {{payload.n}}.");
    await dialog.getByRole("link", { name: "In app" }).first().click();
    await page.getByRole("row", { name: "order.packed" }).waitFor();
  });

  browserTest("a template is translated and gets a file, and the preview shows both", async () => {
    const path = "/api/v2/notification/workflows/order.translated";
    await tenant.ok("PUT", path, { channels: { email: { subject: "Late", body: "<p>Late.</p>" } } });
    await page.goto(`${root}/notifications/workflows/order.translated`);
    await page.getByLabel("Language to add").fill("de");
    await page.getByRole("button", { name: "Add language" }).click();
    await page.getByLabel("Subject").fill("Verspätet {{payload.order}}");
    await page.getByText("Verspätet A-4711").waitFor();
    await page.getByRole("button", { name: "Attach a file" }).click();
    await page.getByLabel("File name of attachment 1").fill("{{payload.order}}.txt");
    await page.getByLabel("Content in base64 of attachment 1").fill("SGVsbG8=");
    await page.getByText("A-4711.txt (5 bytes)").waitFor();
    await page.getByRole("button", { name: "Default" }).click();
    assert.equal(await page.getByLabel("Subject").inputValue(), "Late");
    await page.getByRole("button", { name: "Save templates" }).click();
    await page.getByText("The templates were saved.").waitFor();
    const { data: saved } = await tenant.ok("GET", path);
    assert.deepEqual(
      [saved.channels.email.subject, saved.channels.email.locales.de.subject],
      ["Late", "Verspätet {{payload.order}}"],
    );
    assert.equal(saved.channels.email.attachments[0].content, "SGVsbG8=");
    await look("notifications/workflows/order.translated", "translated");
  });

  browserTest("steps are changed, and the service says what is wrong with them", async () => {
    await page.goto(`${root}/notifications/workflows/order.late?tab=steps`);
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Steps").fill(`[{"key": "sms", "send": {"channels": ["sms"]}}]`);
    await dialog.getByRole("button", { name: "Save steps" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog
      .getByLabel("Steps")
      .fill(`[{"key": "later", "delay": {"for_s": 7200}}, {"key": "send", "send": {"channels": ["in_app"]}}]`);
    await dialog.getByRole("button", { name: "Save steps" }).click();
    await page.getByText("Wait for 2 h").waitFor();
    const { data } = await tenant.ok("GET", workflow);
    assert.equal(data.channels.in_app.body, "It is late.");
  });

  browserTest("a run shows where it waits, and its trigger is cancelled", async () => {
    await look("notifications?tab=runs", "runs-empty");
    await tenant.ok("POST", "/api/v2/notification/subscribers", { external_id: "ada", first_name: "Ada" });
    await tenant.ok("POST", "/api/v2/notifications/trigger", {
      workflow_key: "order.late",
      subscriber_external_id: "ada",
      payload: { days: 3 },
    });
    await look("notifications?tab=runs", "runs");
    await cancelTrigger(page, root, "order.late");
    const { data } = await tenant.ok("GET", "/api/v2/notifications/runs");
    assert.equal(data[0].status, "cancelled");
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    // A refused request is an error in the log of the browser. These are the ones that the tests provoke.
    const expected = /status of 400/;
    assert.deepEqual(
      browser.problems.filter((problem) => !expected.test(problem)),
      [],
    );
  });
});
