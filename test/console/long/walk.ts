import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type Client, createClient } from "../../../clients/typescript/src/client.ts";
import { type Demo, startDemo } from "../../../src/cli/local/demo/demo.ts";
import { browserTest } from "../../browser/browser-test.ts";
import { findChromium } from "../../browser/chromium.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { until } from "../../harness/until.ts";
import { newTenant } from "../../routing/tenant-fixture.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  idsInText,
  openSearch,
  overflowPx,
  startConsoleBrowser,
  waitForContent,
} from "../console-browser.ts";
import { changingControls } from "../read-only-controls.ts";
import { seedLongNames } from "./long-names.ts";
import {
  changeTemplate,
  createKey,
  decideApproval,
  pauseQueue,
  replayDecision,
  retryDeadLetters,
  sendNotification,
} from "./tasks.ts";

const program = await findChromium();
assert.ok(program !== undefined, "There is no Chromium. Install it, or set CHROMIUM.");

/** Every page with the heading that it shows when it has loaded. */
const pages: Readonly<Record<string, string>> = {
  "": "Overview",
  pools: "Pools",
  decisions: "Decisions",
  queues: "Queues",
  schedules: "Schedules",
  "dead-letters": "Dead letters",
  workflows: "Workflows",
  "workflows?tab=definitions": "Workflows",
  "workflows?tab=approvals": "Workflows",
  "workflows/definitions/new": "New workflow",
  "pools?environment=staging": "Pools",
  "dead-letters?kind=run": "Dead letters",
  "dead-letters?kind=message": "Dead letters",
  streams: "Streams",
  connectors: "Connectors",
  "connectors?tab=connections": "Connectors",
  "connectors?tab=actions": "Connectors",
  "connectors?tab=executions": "Connectors",
  "connectors?tab=triggers": "Connectors",
  marketplace: "Marketplace",
  notifications: "Notifications",
  "notifications?tab=subscribers": "Notifications",
  "notifications?tab=workflows": "Notifications",
  "notifications?tab=runs": "Notifications",
  "notifications?tab=topics": "Notifications",
  "notifications?tab=broadcasts": "Notifications",
  "notifications?tab=suppressions": "Notifications",
  "notifications?tab=outbox": "Notifications",
  experiments: "Experiments",
  health: "Health",
  "health?environment=staging&period=7d": "Health",
  events: "Events",
  webhooks: "Webhooks",
  audit: "Audit",
  members: "Members",
  keys: "API keys",
  secrets: "Secrets",
  sessions: "Sessions",
  sso: "Single sign-on",
  plan: "Plan and usage",
  "plan?tab=plan": "Plan and usage",
  settings: "Settings",
  "settings?tab=environments": "Settings",
};

describe("a walk through the demo", () => {
  let service: TestService;
  let browser: ConsoleBrowser;
  let demo: Demo;
  let client: Client;
  let key: string;
  const dataDir = mkdtempSync(join(tmpdir(), "switchyard-console-"));

  before(async () => {
    service = await startService({
      "notification.outbox.enabled": "true",
      "egress.allowed_ip_nets": "127.0.0.0/8",
    });
    browser = await startConsoleBrowser(program);
    const { planes, linkApprover } = service.service;
    const admin = { key: service.adminKey, keyId: "", file: undefined, isNew: false };
    demo = await startDemo({
      service: { baseUrl: planes.baseUrl, admin, linkApprover },
      dataDir,
      onError: (error) => console.error(error),
    });
    key = readFileSync(join(dataDir, "demo.key"), "utf8").trim();
    client = createClient({ baseUrl: service.baseUrl, apiKey: key });
    // Traffic for every page: a failed item, a waiting approval, a delivery.
    await until(async () => (await client.workflowApprovals.list({ limit: 1 }).page()).total > 0);
    await until(async () => (await client.workflowRuns.list({ limit: 1, status: "succeeded" }).page()).total > 0);
  });
  after(async () => {
    await demo?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  for (const theme of ["light", "dark"] as const) {
    browserTest(`every page loads and is accessible in the ${theme} theme`, async () => {
      const { page, root } = await browser.signIn(service.baseUrl, key, theme);
      const violations: string[] = [];
      for (const [path, heading] of [...Object.entries(pages), ...(await details(client))]) {
        violations.push(...(await visit(page, root, path, heading, theme)));
      }
      assert.deepEqual(violations, []);
    });
  }

  browserTest("every page of an empty workspace loads, and fits a phone", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, (await newTenant(service)).key);
    const violations: string[] = [];
    for (const [path, heading] of Object.entries(pages)) {
      violations.push(...(await visit(page, root, path, heading, "empty")));
    }
    assert.deepEqual(violations, []);
  });

  browserTest("the longest names fit every page, also on a phone", async () => {
    const tenant = await newTenant(service);
    const paths = await seedLongNames(createClient({ baseUrl: service.baseUrl, apiKey: tenant.key }));
    const { page, root } = await browser.signIn(service.baseUrl, tenant.key);
    const violations: string[] = [];
    for (const [path, heading] of [...Object.entries(pages), ...paths]) {
      violations.push(...(await visit(page, root, path, heading, "long")));
    }
    assert.deepEqual(violations, []);
  });

  browserTest("a viewer sees no control that would be refused, on any page", async () => {
    const { secret } = await client.apiKeys.create({ name: "viewer", roles: ["viewer"] });
    const { page, root } = await browser.signIn(service.baseUrl, secret!);
    for (const [path, heading] of [...Object.entries(pages), ...(await details(client))]) {
      if (path === "secrets") continue;
      await page.goto(`${root}/${path}`);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      await waitForContent(page);
      assert.deepEqual(await changingControls(page), [], path);
    }
  });

  for (const theme of ["light", "dark"] as const) {
    browserTest(`the main tasks work in the ${theme} theme`, async () => {
      const { page, root } = await browser.signIn(service.baseUrl, key, theme);
      await decideApproval(page, root);
      await retryDeadLetters(page, root, client);
      await pauseQueue(page, root, client);
      await replayDecision(page, root, client);
      await sendNotification(page, root);
      await changeTemplate(page, root, `Parcel in the ${theme}`);
      await createKey(page, root, `made in the ${theme}`);
    });
  }

  browserTest("three tasks work with the keyboard only", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, key);
    // Create a pool: search, go, press the button, fill the form.
    await openSearch(page);
    await page.keyboard.type("pools");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Pools" }).waitFor();
    await tabTo(page, "New pool");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo(page, "", "Name");
    await page.keyboard.type("by keyboard");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "by keyboard" }).waitFor();
    // Open the first row of a table, and close what it opens.
    await page.goto(`${root}/notifications?tab=outbox`);
    await page.locator("a.row-link").first().waitFor();
    await page.locator(".table-scroll").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // Decide an approval.
    await page.goto(`${root}/workflows?tab=approvals`);
    await page.getByRole("button", { name: "Approve" }).first().waitFor();
    await tabTo(page, "Approve");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo(page, "Approve");
    await page.keyboard.press("Enter");
    await page.getByText("You approved it.").waitFor();
  });

  browserTest("ten open tabs all stay live over one connection, also when the first one is closed", async () => {
    const { page, root, context } = await browser.signIn(service.baseUrl, key);
    // The navigation is shown before the page has the lock and connects. Later connections would be those of other tabs.
    await page.getByText("Live", { exact: true }).waitFor();
    let streams = 0;
    context.on("request", (request) => {
      if (request.url().includes("/api/events/subscribe")) streams++;
    });
    const tabs: Page[] = [];
    for (let index = 0; index < 10; index++) {
      const tab = await context.newPage();
      await tab.goto(`${root}/events?type=tab.*`);
      await tab.getByText("Live", { exact: true }).waitFor();
      tabs.push(tab);
    }
    await client.events.publish({ type: "tab.first", subject: "a" });
    await Promise.all(tabs.map((tab) => tab.getByRole("button", { name: /tab\.first/ }).waitFor()));
    assert.equal(streams, 0, "the first page has the only connection");
    await page.close();
    await tabs[0]!.waitForTimeout(500);
    await client.events.publish({ type: "tab.second", subject: "b" });
    await Promise.all(tabs.map((tab) => tab.getByRole("button", { name: /tab\.second/ }).waitFor()));
    assert.equal(streams, 1, "one other tab took over");
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    assert.deepEqual(browser.problems, []);
  });
});

/**
 * Opens a page, and returns its violations of the rules of accessibility, the ids in its text, the errors that it shows, and by how
 * much it is too wide for a phone.
 */
async function visit(page: Page, root: string, path: string, heading: string, look: string): Promise<string[]> {
  await page.setViewportSize({ width: 1360, height: 860 });
  await page.goto(`${root}/${path}`);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await waitForContent(page);
  await savePicture(page, path, look);
  const errors = await page.locator('.notice[data-tone="bad"][role="alert"]').allInnerTexts();
  const isFailedRun = path.startsWith("workflows/runs/");
  const found = [
    ...(await accessibilityViolations(page)),
    ...(await idsInText(page)),
    ...(isFailedRun ? [] : errors.map((text) => `${path}: ${text}`)),
  ];
  await page.setViewportSize({ width: 390, height: 860 });
  await savePicture(page, path, `${look}-390`);
  const overflow = await overflowPx(page);
  return overflow > 0 ? [...found, `${path} is ${overflow} px too wide for a phone`] : found;
}

/** Saves what a page looks like, for somebody who wants to see it. */
async function savePicture(page: Page, path: string, look: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  const name = `${path.replaceAll(/[^a-z-]+/gi, "-").slice(0, 60) || "overview"}-${look}.png`;
  writeFileSync(join(folder, name), await page.screenshot());
}

/** The pages of single records, with their headings. */
async function details(client: Client): Promise<readonly (readonly [path: string, heading: string])[]> {
  const [pool] = await client.pools.list({ limit: 100 }).take(1);
  const [run] = await client.workflowRuns.list({ status: "succeeded" }).take(1);
  const [definition] = await client.workflowDefinitions.list({ key_prefix: "refund" }).take(1);
  const [experiment] = await client.experiments.list().take(1);
  const [subscriber] = await client.subscribers.list({ external_id: "hedy" }).take(1);
  const [decision] = await client.routing.listDecisions().take(1);
  const [endpoint] = await client.webhooks.listEndpoints().take(1);
  const [schedule] = await client.schedules.list().take(1);
  return [
    [`pools/${pool!.id}`, pool!.name],
    [`pools/${pool!.id}?tab=recipients`, pool!.name],
    [`pools/${pool!.id}?tab=rules`, pool!.name],
    [`pools/${pool!.id}?tab=strategy`, pool!.name],
    [`queues/${pool!.id}`, pool!.name],
    [`queues/${pool!.id}?tab=offers`, pool!.name],
    [`queues/${pool!.id}?tab=bulk`, pool!.name],
    [`queues/${pool!.id}?tab=charts`, pool!.name],
    [`schedules/${schedule!.id}`, schedule!.name],
    [`decisions/${decision!.decision_id}`, decision!.type],
    [`workflows/runs/${run!.id}`, run!.definition_key],
    [`workflows/runs/${run!.id}?tab=timeline`, run!.definition_key],
    [`workflows/runs/${run!.id}?tab=history`, run!.definition_key],
    [`workflows/definitions/${definition!.id}`, definition!.name],
    [`workflows/definitions/${definition!.id}?tab=draft`, definition!.name],
    [`workflows/definitions/${definition!.id}?tab=versions&from=1&to=2`, definition!.name],
    [`experiments/${experiment!.id}`, experiment!.name],
    [`notifications/subscribers/${subscriber!.id}`, "Hedy Lamarr"],
    [`notifications/subscribers/${subscriber!.id}?tab=why`, "Hedy Lamarr"],
    [`notifications/subscribers/${subscriber!.id}?tab=preferences`, "Hedy Lamarr"],
    ["notifications/workflows/order.shipped", "Order shipped"],
    ["notifications/workflows/order.review?tab=steps", "Ask for a review"],
    ["notifications/topics/news", "Product news"],
    [`webhooks/${endpoint!.id}`, "The shop"],
  ];
}

/** Presses Tab until the focused element has this text, or belongs to this label. */
async function tabTo(page: Page, text: string, label = ""): Promise<void> {
  const focused = `(() => {
    const element = document.activeElement;
    return element.textContent.trim() + "|" + (element.labels?.[0]?.textContent.trim() ?? "");
  })()`;
  for (let presses = 0; presses < 120; presses++) {
    const [own, labelled] = ((await page.evaluate(focused)) as string).split("|");
    if (label === "" ? own === text : labelled!.startsWith(label)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab never reached ${text || label}`);
}
