import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { browserTest, withPictures } from "../../browser/browser-test.ts";
import { findChromium } from "../../browser/chromium.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { newTenant, type TenantFixture } from "../../routing/tenant-fixture.ts";
import { startReceiver } from "../../webhooks/receiver.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  startConsoleBrowser,
  waitForContent,
} from "../console-browser.ts";
import {
  clearDesign,
  connectAccount,
  connectIdentityProvider,
  createEnvironment,
  designExperiment,
  endSession,
  followStream,
  goTo,
  installPack,
  manageMember,
  manageSecret,
  operateWebhook,
} from "./workspace-tasks.ts";

const program = await findChromium();
assert.ok(program !== undefined, "There is no Chromium. Install it, or set CHROMIUM.");

describe("the tasks of the other pages", () => {
  let service: TestService;
  let browser: ConsoleBrowser;
  before(async () => {
    service = await startService({ "egress.allowed_ip_nets": "127.0.0.0/8" });
    browser = await startConsoleBrowser(program);
  });

  for (const theme of ["light", "dark"] as const) {
    describe(`in the ${theme} theme`, () => {
      let tenant: TenantFixture;
      let page: Page;
      let root: string;
      let context: BrowserContext;
      before(async () => {
        tenant = await newTenant(service);
        await withPictures(async () => {
          ({ page, root, context } = await browser.signIn(service.baseUrl, tenant.key, theme));
        });
      });
      after(() => context?.close());

      /** Everybody can use what the task has led to. */
      async function isAccessible(): Promise<void> {
        await waitForContent(page);
        assert.deepEqual(await accessibilityViolations(page), []);
      }

      browserTest("members are invited, changed and removed", async () => {
        await manageMember(page, root);
        await isAccessible();
      });

      browserTest("secrets are stored, replaced and deleted, and never shown", async () => {
        await manageSecret(page, root);
        await isAccessible();
      });

      browserTest("an identity provider is connected, and its groups get roles", async () => {
        await connectIdentityProvider(page, root);
        await isAccessible();
        const { data } = await tenant.ok("GET", "/api/v2/identity/connections");
        assert.equal(data[0].name, "Okta");
      });

      browserTest("a webhook is registered and tested, and its secret is rotated", async () => {
        await operateWebhook(page, root, (await startReceiver()).url());
        await isAccessible();
      });

      browserTest("an experiment is designed with forms, and its limits are cleared", async () => {
        const stored = async () => (await tenant.ok("GET", "/api/experiments")).data[0];
        await designExperiment(page, root);
        const { metrics, targeting } = await stored();
        assert.equal(targeting, `attributes.country == "CH"`);
        assert.deepEqual([metrics[1].role, metrics[1].margin, metrics[1].winsor_cap], ["guardrail", 2, 500]);
        await clearDesign(page);
        const cleared = await stored();
        assert.deepEqual([cleared.targeting, cleared.metrics[1].margin], ["", 0]);
        assert.ok(!("winsor_cap" in cleared.metrics[1]), "the limit is gone");
        await isAccessible();
      });

      browserTest("a pack is previewed and installed", async () => {
        await installPack(page, root, "Account messages", { "Name of the product": "Acme" });
        await isAccessible();
        assert.equal((await tenant.ok("GET", "/api/v2/marketplace/installations")).total, 1);
      });

      browserTest("an account is connected through a link", async () => {
        await connectAccount(page, root, "postmark");
        assert.equal((await tenant.ok("GET", "/api/v2/connector/connect-sessions")).total, 1);
      });

      browserTest("a session of another browser is ended", async () => {
        const other = await browser.signIn(service.baseUrl, tenant.key, theme);
        await other.context.close();
        await endSession(page, root);
        await isAccessible();
      });

      browserTest("an environment is created, which the audit shows", async () => {
        await createEnvironment(page, root);
        await isAccessible();
      });

      browserTest("a stream is followed while records are appended", async () => {
        const steps = [{ id: "go", wait_event: { event: "go", timeout: "1h" } }];
        const document = { dsl: "1", key: "waiting", timeout: "1h", steps };
        await tenant.ok("POST", "/api/workflow-definitions", { document });
        await tenant.ok("POST", "/api/workflow-definitions/waiting/publish", {});
        const started = { definition: "waiting", run_key: "day-1" };
        const { run } = (await tenant.ok("POST", "/api/workflow-runs", started)).data;
        await tenant.ok("POST", `/api/workflow-streams/runs/${run.id}/streams`, { name: "ledger" });
        await followStream(page, root, "waiting · day-1", "ledger");
        await isAccessible();
      });

      browserTest("the search leads to records by their names and ids", async () => {
        const poolId = await tenant.pool();
        const decision = await tenant.route(poolId);
        await goTo(page, "warehouse", /The warehouse/, /\/webhooks\/01/i);
        await goTo(page, "checkout", /Checkout/, /\/experiments\/01/i);
        await goTo(page, poolId, /Pool$/, /\/pools\/01/);
        await goTo(page, decision.queue_item_id, /[Ii]tem$/, /\/queues\/01.*open=01/);
        await page.getByRole("dialog").getByText(decision.queue_item_id).first().waitFor();
        await page.keyboard.press("Escape");
        await goTo(page, "postmark", /Postmark/, /\/connectors\?open=postmark/);
        await page.getByRole("dialog").getByRole("button", { name: "Connect", exact: true }).waitFor();
        await goTo(page, decision.decision_id, /Decision$/, /\/decisions\/01/);
      });
    });
  }

  test("no page violates its policy, fails in a script, or sends a key", () => {
    // A search by an id asks for every kind of record, and the browser reports each that does not exist.
    assert.deepEqual(
      browser.problems.filter((each) => !/status of 404/.test(each)),
      [],
    );
  });
});
