// What people do all day in the console: the search, environments, and what they see when something fails.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { browserTest } from "../browser/browser-test.ts";
import { findChromium } from "../browser/chromium.ts";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant } from "../routing/tenant-fixture.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  openSearch,
  pick,
  startConsoleBrowser,
} from "./console-browser.ts";

const program = await findChromium();
const none = "This machine has no Chromium: daily work was not tried in a browser. Install it, or set CHROMIUM.";

describe("daily work in the console", { skip: program === undefined && none }, () => {
  let service: TestService;
  let rest: ReturnType<typeof restClient>;
  let poolId: string;
  let browser: ConsoleBrowser;

  before(async () => {
    service = await startService();
    rest = restClient(service.baseUrl, service.adminKey);
    const { body } = await rest.call("POST", "/api/pools", { name: "tickets" });
    poolId = body.data.id;
    await rest.call("POST", `/api/pools/${poolId}/recipients`, { name: "ada", capacity: 2 });
    browser = await startConsoleBrowser(program!);
  });

  browserTest("a run is updated, its failed compensation is retried, and runs that match are changed", async () => {
    const update = { input_schema: { type: "integer" }, answer: "reply" };
    const steps = [
      { id: "room", transform: 12, compensate: { subworkflow: { key: "desk" } } },
      { id: "nights", wait_event: { event: "nights", timeout: "1d", update } },
      { id: "reply", transform: { price: "=steps.nights.payload * 90" } },
      { id: "pay", fail: { code: "card_declined", message: "no money" } },
    ];
    const publish = async (key: string, of: readonly object[]) => {
      const document = { dsl: "1", key, timeout: "1d", on_failure: "compensate", steps: of };
      await rest.call("POST", "/api/workflow-definitions", { document });
      await rest.call("POST", `/api/workflow-definitions/${key}/publish`, {});
    };
    await publish("desk", [{ id: "closed", fail: { code: "closed", message: "closed" } }]);
    await publish("stay", steps);
    const start = { definition: "stay", attributes: { guest: "ada" } };
    const [first, second] = await Promise.all([1, 2].map(() => rest.call("POST", "/api/workflow-runs", start)));
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    await page.goto(`${root}/workflows/runs/${first!.body.data.run.id}`);
    await page.getByRole("button", { name: "Update" }).click();
    await page.getByRole("dialog").getByLabel("Update").fill("nights");
    await page.getByRole("dialog").getByLabel("Payload").fill("2");
    await page.getByRole("dialog").getByRole("button", { name: "Update" }).click();
    await page.getByRole("dialog").getByText("180").waitFor();
    await page.keyboard.press("Escape");

    await page.getByRole("button", { name: "Retry compensations" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await page.getByText("The compensations are retried.").waitFor();

    await page.goto(`${root}/workflows`);
    await page.getByRole("button", { name: "Change runs" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("What happens").selectOption("cancel");
    await dialog.getByLabel("Attributes").fill("guest=ada");
    await dialog.getByRole("button", { name: "Change all that match" }).click();
    await page.getByText("1 runs were changed").waitFor();
    const { body } = await rest.call("GET", `/api/workflow-runs/${second!.body.data.run.id}`);
    assert.equal(body.data.status, "cancelled");
  });

  browserTest("the search does things, rows open anywhere, and a page can be held still", async () => {
    const { page } = await browser.signIn(service.baseUrl, service.adminKey);
    await (await openSearch(page)).fill("ada");
    await page.getByRole("option", { name: "ada Recipient" }).click();
    await page.waitForURL(new RegExp(`/pools/${poolId}\\?tab=recipients$`));

    await (await openSearch(page)).fill("pause tick");
    await page.getByRole("option", { name: "Pause tickets" }).click();
    await page.getByRole("dialog").getByLabel("For · optional").fill("soon");
    await page.getByRole("dialog").getByRole("button", { name: "Pause queue" }).click();
    await page.getByRole("dialog").getByText("Write a number and a unit").waitFor();
    await page.getByRole("dialog").getByLabel("For · optional").fill("10 min");
    await page.getByRole("dialog").getByRole("button", { name: "Pause queue" }).click();
    await page.getByText(/The queue resumes by itself at/).waitFor();
    await (await openSearch(page)).fill("resume tick");
    await page.getByRole("option", { name: "Resume tickets" }).click();
    await page.getByText("The queue of tickets hands out items again.").waitFor();

    await (await openSearch(page)).fill("new pool");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "New pool" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Open the row", { exact: true }).waitFor();
    await page.keyboard.press("Escape");

    // Held still, the list shows what it showed. Let go, it shows what has changed.
    await page.getByRole("button", { name: "Live" }).click();
    await rest.call("POST", "/api/pools", { name: "made meanwhile" });
    await page.getByRole("button", { name: "Paused" }).waitFor();
    await rest.call("POST", "/api/events", { type: "order.held" });
    assert.equal(await page.getByRole("link", { name: "made meanwhile" }).count(), 0);
    await page.getByRole("button", { name: "Paused" }).click();
    await page.getByRole("link", { name: "made meanwhile" }).waitFor();
    await page
      .getByRole("row", { name: /tickets/ })
      .getByText("Active")
      .click();
    await page.waitForURL(new RegExp(`/pools/${poolId}$`));
    await page.getByRole("navigation", { name: "Path" }).getByText("tickets").waitFor();
  });

  browserTest("the chosen environment holds on every page, and for what is created", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    await page.goto(`${root}/pools`);
    await page.getByRole("columnheader", { name: "Environment" }).waitFor();
    await page.getByLabel("Environment").selectOption({ value: "staging" });
    await page.getByRole("link", { name: "tickets" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New pool" }).click();
    await page.getByLabel("Name").fill("rehearsal");
    await page.getByRole("button", { name: "Create pool" }).click();
    await page.getByRole("heading", { name: "rehearsal" }).waitFor();
    const { body } = await rest.call("GET", "/api/pools?environment_id=staging");
    assert.deepEqual(
      body.data.map(({ name }: { name: string }) => name),
      ["rehearsal"],
    );
    const [{ id: staged }] = body.data;
    for (const pool_id of [poolId, staged]) {
      await rest.call("POST", "/api/route", { pool_id, type: "trial", key: "order-4711" });
    }
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Queues" }).click();
    await page.getByRole("link", { name: "rehearsal" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "tickets" }).count(), 0);
    for (const [path, field] of [
      ["decisions?key=order-4711&", "pool_id"],
      ["queues?", "pool_id"],
    ] as const) {
      const { body: listed } = await rest.call("GET", `/api/${path}environment_id=staging`);
      const pools = listed.data.map((each: Record<string, string>) => each[field]);
      assert.deepEqual([...new Set(pools)], [staged], path);
    }
    assert.deepEqual(await accessibilityViolations(page), []);

    // What failed, what happened and what is waiting are those of the environment as well.
    const retry = { max_attempts: 1 };
    for (const environment_id of ["production", "staging"]) {
      const name = `fails in ${environment_id}`;
      const created = await rest.call("POST", "/api/pools", { name, environment_id, config: { retry } });
      const pool_id = created.body.data.id;
      await rest.call("POST", "/api/route", { pool_id, type: "trial", key: name });
      const { body: leased } = await rest.call("POST", `/api/queues/${pool_id}/lease`, { wait_s: 10 });
      const [{ queue_item_id, lease_token }] = leased.data.items;
      await rest.call("POST", `/api/queues/${pool_id}/items/${queue_item_id}/fail`, { lease_token });
    }
    const open = (name: string) =>
      page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();
    await open("Dead letters");
    await page.getByRole("row", { name: /fails in staging/ }).waitFor();
    assert.equal(await page.getByRole("row", { name: /fails in production/ }).count(), 0);
    await open("Overview");
    await page.getByRole("link", { name: /^Dead letters 1$/ }).waitFor();
    await page.getByRole("link", { name: /^Waiting 1 / }).waitFor();
    await open("Events");
    const log = page.getByRole("region", { name: "Events, newest first" });
    await log.getByRole("button", { name: /dead_lettered.*fails in staging/ }).waitFor();
    await rest.call("POST", `/api/queues/${poolId}/pause`, {});
    await rest.call("POST", `/api/queues/${staged}/pause`, {});
    await log.getByRole("button", { name: /queue.paused.*rehearsal/ }).waitFor();
    assert.equal(await log.getByRole("button", { name: /tickets|fails in production/ }).count(), 0);
    await open("Notifications");
    await page.getByText("Notifications belong to no environment").waitFor();
    await page.getByLabel("Environment").selectOption({ value: "" });
    await open("Dead letters");
    await page.getByRole("row", { name: /fails in production/ }).waitFor();
    await rest.call("POST", `/api/queues/${poolId}/resume`, {});
  });

  browserTest(
    "a notification is sent again with the values that it had, and a stream is found by its run",
    async () => {
      const content = { title: "Order {{ payload.order }}", body: "It is on its way." };
      await rest.call("PUT", "/api/v2/notification/workflows/order.sent", { channels: { in_app: content } });
      const grace = { external_id: "grace", first_name: "Grace", last_name: "Hopper" };
      const { body: subscriber } = await rest.call("POST", "/api/v2/notification/subscribers", grace);
      const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
      await page.goto(`${root}/notifications`);
      const dialog = page.getByRole("dialog");
      await page.getByRole("button", { name: "Send" }).click();
      assert.equal(await dialog.getByLabel("Fill in from").count(), 0, "nothing was sent from here");
      await pick(dialog, "Subscriber", "Grace Hopper");
      await dialog.getByLabel(/^order/).fill("A-1");
      await dialog.getByRole("button", { name: "Send" }).click();
      await dialog.getByText("The notification was triggered.").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Send" }).click();
      await dialog.getByLabel("Fill in from").selectOption({ index: 1 });
      assert.equal(await dialog.getByLabel(/^order/).inputValue(), "A-1");
      await dialog.getByRole("button", { name: "Send" }).click();
      await dialog.getByText("The notification was triggered.").waitFor();
      const inbox = `/api/v2/notifications/deliveries?subscriber_id=${subscriber.data.id}`;
      assert.equal((await rest.call("GET", inbox)).body.total, 2);

      const steps = [{ id: "ask", approval: { by: ["role:admin"], timeout: "1h" } }];
      const document = { dsl: "1", key: "ledger.keep", timeout: "1d", steps };
      const { body: definition } = await rest.call("POST", "/api/workflow-definitions", { document });
      await rest.call("POST", `/api/workflow-definitions/${definition.data.id}/publish`, {});
      const start = { definition: "ledger.keep", run_key: "book-7", input: {} };
      const { body: started } = await rest.call("POST", "/api/workflow-runs", start);
      const { id } = started.data.run;
      await rest.call("POST", `/api/workflow-streams/runs/${id}/streams`, { name: "ledger" });
      await page.goto(`${root}/streams`);
      await page.getByRole("button", { name: "Open a stream" }).click();
      await pick(dialog, "Run", "ledger.keep · book-7");
      await dialog.getByLabel("Stream").fill("ledger");
      await dialog.getByRole("button", { name: "Open" }).click();
      await page.waitForURL(new RegExp(`/streams/${id}/ledger$`));
      await page.getByRole("heading", { name: "ledger" }).waitFor();
    },
  );

  browserTest("a list that is longer than one search says so, and is searched on", async () => {
    const tenant = await newTenant(service);
    await tenant.ok("POST", "/api/v2/secrets", { name: "first", value: "v" });
    const sql = connect(service.databaseUrl, 1);
    await sql`
      insert into events (tenant_id, id, type, source, time)
      select ${tenant.id}, '7' || lpad(n::text, 25, '0'), 'order.counted', '/custom', now() from generate_series(1, 100000) n`;
    await sql.end({ timeout: 1 });
    const { page, root } = await browser.signIn(service.baseUrl, tenant.key);
    await page.goto(`${root}/audit?about=secrets`);
    await page.getByText("Older records have not been searched.").waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.getByRole("button", { name: "Search on" }).click();
    await page.getByRole("row", { name: /secret\.created/ }).waitFor();
    await page.goto(`${root}/events?type=secret.*`);
    await page.getByRole("button", { name: "Search on" }).click();
    await page.getByRole("button", { name: /secret\.created/ }).waitFor();
  });

  browserTest("what cannot be loaded says so, and another try shows it", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    const isScript = /\/console\/main\.js$/;
    await page.route(isScript, (route) => route.abort());
    await page.goto(`${root}/pools`);
    await page.getByText("The console could not be loaded.").waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.unroute(isScript);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Pools" }).waitFor();

    const isModule = /\/console\/queues-\w+\.js$/;
    await page.route(isModule, (route) => route.abort());
    await page.getByRole("link", { name: "Queues" }).click();
    await page.getByText("The page could not be loaded.").waitFor();
    await page.unroute(isModule);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Queues" }).waitFor();

    const isCall = /\/api\/v2\/api-keys/;
    await page.route(isCall, (route) => route.abort());
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByText("The service does not respond.").waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.unroute(isCall);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("table").waitFor();
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    // Requests that the tests abort.
    const expected = /ERR_FAILED/;
    assert.deepEqual(
      browser.problems.filter((problem) => !expected.test(problem)),
      [],
    );
  });
});
