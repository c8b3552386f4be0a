// What somebody who runs pools and queues does every day, with nothing but the console.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { browserTest } from "../../browser/browser-test.ts";
import { findChromium } from "../../browser/chromium.ts";
import { afterFile } from "../../harness/after-file.ts";
import { connect } from "../../harness/postgres-server.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../../routing/tenant-fixture.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  idsInText,
  openSearch,
  pick,
  startConsoleBrowser,
  waitForContent,
} from "../console-browser.ts";

const program = await findChromium();
const none = "This machine has no Chromium: nobody operated queues in the console. Install it, or set CHROMIUM.";

describe("the everyday tasks of an operator", { skip: program === undefined && none }, () => {
  let service: TestService;
  let tenant: TenantFixture;
  let browser: ConsoleBrowser;

  before(async () => {
    service = await startService();
    tenant = await newTenant(service);
    browser = await startConsoleBrowser(program!);
  });

  browserTest("create a pool with recipients and a rule that routes to one of them", async () => {
    const { page } = await browser.signIn(service.baseUrl, tenant.key);
    const dialog = page.getByRole("dialog");
    await page.getByRole("link", { name: "Pools" }).click();
    await page.getByRole("button", { name: "New pool" }).click();
    await dialog.getByLabel("Name").fill("triage");
    await dialog.getByRole("button", { name: "Create pool" }).click();
    await page.getByRole("link", { name: "Recipients" }).click();
    for (const name of ["Ada", "Grace"]) {
      await page.getByRole("button", { name: "Add recipient" }).click();
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByLabel("Attributes").fill("north");
      await dialog.getByRole("button", { name: "Add recipient" }).click();
      await dialog.getByText("This is not valid JSON. An example:").waitFor();
      await dialog.getByText("Rules see them as recipient.attributes.").waitFor();
      await dialog.getByLabel("Attributes").fill("");
      await dialog.getByRole("button", { name: "Add recipient" }).click();
      await page.getByRole("cell", { name, exact: true }).waitFor();
    }
    await page.getByRole("link", { name: "Rules" }).click();
    await page.getByRole("button", { name: "Add rule" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Gold to Ada");
    await dialog.getByText("Without a condition the rule applies to every item.").waitFor();
    await dialog.getByLabel("Condition, in CEL").fill(`tier == "gold"`);
    await dialog.getByRole("button", { name: "Write item.attributes.tier" }).click();
    await dialog.getByText("reads item.attributes.tier").waitFor();
    await dialog.getByLabel("Then").selectOption("require");
    await dialog.getByText("Only recipients for whom the condition holds").waitFor();
    await dialog.getByLabel("Then").selectOption("route");
    await dialog.getByRole("combobox", { name: "Recipient" }).fill("a");
    await dialog.getByRole("option", { name: "Grace" }).waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await pick(dialog, "Recipient", "Ada");
    await dialog.getByRole("button", { name: "Add rule" }).click();
    await page.getByRole("cell", { name: "Route to Ada" }).waitFor();
    const { data: pools } = await tenant.ok("GET", "/api/pools");
    const pool = pools.find(({ name }: ResponseData) => name === "triage");
    const { recipient_id } = await tenant.route(pool.id, { attributes: { tier: "gold" } });
    const { data: recipients } = await tenant.ok("GET", `/api/pools/${pool.id}/recipients`);
    assert.equal(recipients.find(({ id }: ResponseData) => id === recipient_id).name, "Ada");
  });

  browserTest("route an item, and read why it went there", async () => {
    const throttle = { key: "item.attributes.customer", limit: 100, period_s: 60 };
    const poolId = await tenant.pool({ name: "support", config: { admission: { throttle } } });
    const german = await tenant.recipient(poolId, { name: "Hedy" });
    await tenant.recipient(poolId, { name: "Ada" });
    const condition = `item.attributes.language == "de"`;
    await tenant.rule(poolId, { type: "route", recipient_id: german }, { name: "German to Hedy", condition });
    const { page } = await browser.signIn(service.baseUrl, tenant.key);
    const dialog = page.getByRole("dialog");
    await page.getByRole("link", { name: "Queues" }).click();
    await page.getByRole("link", { name: "support" }).click();
    await page.getByRole("button", { name: "Route item" }).click();
    await dialog.getByLabel("Type").fill("ticket");
    await dialog.getByLabel("Key").fill("A-1");
    // What the rules read is a field.
    await dialog.getByLabel("language").fill("de");
    // Without what an admission key reads, the item would be refused.
    await dialog.getByRole("button", { name: "Route item" }).click();
    await dialog.getByText("This field is required.").waitFor();
    await dialog.getByLabel("customer").fill("acme");
    await dialog.getByRole("button", { name: "Route item" }).click();
    await dialog.getByText("Routed to Hedy.").waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await dialog.getByRole("button", { name: "Another one" }).click();
    await dialog.getByLabel("Fill in from").selectOption({ index: 1 });
    assert.equal(await dialog.getByLabel("language").inputValue(), "de", "the last item is an example");
    assert.deepEqual(await accessibilityViolations(page), []);
    await dialog.getByRole("button", { name: "Route item" }).click();
    await dialog.getByRole("link", { name: "Open the decision" }).click();
    await page.getByRole("heading", { level: 1, name: "ticket · A-1" }).waitFor();
    const recipients = page.getByRole("region", { name: "Recipients of the decision" });
    await recipients.getByRole("row", { name: /^Hedy .*Hedy was chosen.* Chosen/ }).waitFor();
    await recipients.getByRole("row", { name: /^Ada .*The rule "German to Hedy" sends the item to Hedy/ }).waitFor();
    assert.equal(await page.getByText(`item.attributes.language = "de"`).count(), 0, "the condition says it");
    await waitForContent(page);
    assert.deepEqual(await idsInText(page), []);
    assert.deepEqual(await accessibilityViolations(page), []);
    const { data } = await tenant.ok("GET", `/api/queues/${poolId}/items`);
    assert.deepEqual(
      data.map(({ recipient_id, attributes }: ResponseData) => [recipient_id, attributes]),
      Array(2).fill([german, { language: "de", customer: "acme" }]),
    );
    await recipients.getByRole("link", { name: "Ada" }).click();
    await page.getByRole("heading", { level: 1, name: "support" }).waitFor();
  });

  browserTest("pause a queue, drain it, resume it, and retry its dead letters", async () => {
    const poolId = await tenant.pool({ name: "mails", config: { retry: { max_attempts: 1 } } });
    await tenant.route(poolId, { key: "broken" });
    await tenant.fail(await tenant.leaseOne(poolId));
    await tenant.route(poolId, { key: "unwanted" });
    const { page } = await browser.signIn(service.baseUrl, tenant.key);
    const dialog = page.getByRole("dialog");
    await page.getByRole("link", { name: "Queues" }).click();
    await page.getByRole("link", { name: "mails" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await dialog.getByLabel("Reason").fill("A release");
    await dialog.getByRole("button", { name: "Pause queue" }).click();
    await page.getByText(/A release\. Items are accepted, and none is handed out/).waitFor();
    const item = page.getByRole("row", { name: /unwanted/ });
    await item.getByRole("cell", { name: /^Paused/ }).waitFor();
    await item.getByRole("link").click();
    await dialog.getByText("Its queue is paused (A release), and hands out no item.").waitFor();
    await dialog.getByRole("link", { name: "Open the decision" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Drain" }).click();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByLabel("Type mails to continue").fill("mails");
    await dialog.getByRole("button", { name: "Remove items" }).click();
    await page.getByText("1 item was removed, 0 still wait.").waitFor();
    assert.equal((await tenant.status(poolId)).depth, 0);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("The queue hands out items again.").waitFor();

    await page.getByRole("link", { name: "Dead letters" }).click();
    await pick(page, "Pool", "mails");
    await page.getByRole("link", { name: /broken/ }).waitFor();
    await page.getByLabel("Select all loaded rows").check();
    await page.getByRole("button", { name: "Retry 1" }).click();
    await page.getByText("The dead letters are tried again.").waitFor();
    await page.getByText("Nothing matches").waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    assert.equal((await tenant.leaseOne(poolId)).key, "broken", "a worker gets it again");
  });

  browserTest("find an item by its key with the search", async () => {
    const poolId = await tenant.pool({ name: "orders" });
    await tenant.route(poolId, { type: "order", key: "order-4711" });
    const { page } = await browser.signIn(service.baseUrl, tenant.key);
    await (await openSearch(page)).fill("order-4711");
    await page.getByRole("option", { name: /order-4711 · order/ }).click();
    await page.waitForURL(new RegExp(`/queues/${poolId}\\?open=`));
    await page.getByRole("dialog").getByText("order-4711").first().waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
  });

  browserTest("find out why Ada got nothing", async () => {
    const content = { channels: { email: { subject: "Shipped", body: "<p>Shipped</p>" } } };
    await tenant.ok("PUT", "/api/v2/notification/workflows/order.shipped", content);
    const { data } = await tenant.ok("POST", "/api/v2/notification/subscribers", {
      ...{ external_id: "ada", first_name: "Ada", email: "ada@example.com" },
    });
    const news = { workflow_key: "news", ...content, name: "News" };
    await tenant.ok("PUT", "/api/v2/notification/workflows/news", news);
    const preference = { workflow_key: "news", all: false };
    await tenant.ok("POST", `/api/v2/notification/subscribers/${data.id}/preferences`, preference);
    await tenant.ok("POST", "/api/v2/notifications/trigger", { workflow_key: "news", subscriber_id: data.id });
    const { page } = await browser.signIn(service.baseUrl, tenant.key, "dark");
    await (await openSearch(page)).fill("ada");
    await page.getByRole("option", { name: /^Ada Subscriber/ }).click();
    await page.getByRole("cell", { name: "Forbidden by a preference" }).waitFor();
    await page.getByRole("row", { name: /news/ }).getByRole("link").first().click();
    const why = page
      .getByRole("dialog")
      .getByText("The preferences of the subscriber for this workflow forbid the channel");
    await why.waitFor();
    await page.getByRole("dialog").getByRole("link", { name: "Why not?" }).click();
    await page.getByText("Ada would not get News now.").waitFor();
    await page.getByRole("link", { name: "See the preferences" }).waitFor();
    await page.getByLabel("Workflow").selectOption("order.shipped");
    await page.getByText("Nothing of this notification was ever sent to this person.").waitFor();
    const mail = page.locator(".card", { has: page.getByRole("heading", { name: "Email", exact: true }) });
    await mail.getByRole("listitem").filter({ hasText: "Decides" }).getByText("None active").waitFor();
    await waitForContent(page);
    assert.deepEqual(await idsInText(page), []);
    assert.deepEqual(await accessibilityViolations(page), []);
  });

  browserTest("read last night's backlog on a chart, with the gap and the pauses", async () => {
    const poolId = await tenant.pool({ name: "tickets" });
    const sql = connect(service.databaseUrl, 1);
    afterFile(() => sql.end());
    // Six hours with 900 waiting items end ten hours ago. From four to two hours ago, no node was there.
    await sql`
        with steps as (
        select date_bin('10 minutes', now(), 'epoch') - n * interval '10 minutes' as at, n from generate_series(1, 144) n
      ), sampled as (
        insert into history_samples select 10, at, 10 from steps where n not between 12 and 24 on conflict do nothing
      )
      insert into history_points
      select ${tenant.id}, 'pool', ${poolId}, 10, at, 900, 3, 7200, 50, 20, 0, 0 from steps where n between 60 and 96`;
    await tenant.ok("POST", `/api/queues/${poolId}/pause`, { reason: "deploy" });
    await tenant.ok("POST", `/api/queues/${poolId}/resume`, {});
    const { page, root } = await browser.signIn(service.baseUrl, tenant.key);
    const readAt = async (hoursAgo: number) => {
      const chart = page.locator("figure.chart").first();
      const { x, y, width } = (await chart.locator("svg").boundingBox())!;
      await page.mouse.move(x + 46 + (width - 54) * (1 - hoursAgo / 24), y + 80);
      return (await chart.locator(".legend").textContent())!;
    };
    for (const path of [`/queues/${poolId}?tab=charts`, ""]) {
      await page.goto(root + path);
      await page.getByRole("button", { name: "24 h" }).click();
      await page.getByRole("img", { name: "Waiting and in progress, last 24 h" }).waitFor();
      await page.getByRole("list", { name: "What happened" }).getByText("tickets resumed").first().waitFor();
      assert.match(await readAt(13), /Waiting 900In progress 3/, path);
      assert.match(await readAt(8), /Waiting 0In/, path);
      assert.match(await readAt(3), /Waiting –In/, path);
      assert.deepEqual(await accessibilityViolations(page), []);
    }
    await page.reload();
    assert.equal(await page.getByRole("button", { name: "24 h" }).getAttribute("aria-pressed"), "true");
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    assert.deepEqual(browser.problems, []);
  });
});
