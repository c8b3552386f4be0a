import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startService, type TestService } from "../harness/service.ts";
import { browserTest, launchBrowser, waitUntil } from "./browser-test.ts";
import { findChromium } from "./chromium.ts";

const program = await findChromium();
const none = "This machine has no Chromium: the pages were not looked at in a browser. Install it, or set CHROMIUM.";

describe("in a browser", { skip: program === undefined && none }, () => {
  let service: TestService;
  let browser: Browser;
  const requested: string[] = [];
  const problems: string[] = [];
  before(async () => {
    service = await startService({
      "notification.allow_unknown_workflows": "true",
      "notification.outbox.enabled": "true",
    });
    browser = await launchBrowser(program!);
  });

  /** A page in a window, or on a phone. */
  async function openPage(options: Parameters<Browser["newContext"]>[0]): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.on("request", (request) => requested.push(request.url()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    return page;
  }
  const desktop = { viewport: { width: 1280, height: 900 } };
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true };

  /** Saves a screenshot when SCREENSHOTS names a folder. */
  async function picture(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
  }

  /** Whether anything overflows the viewport horizontally. */
  const sticksOut = "document.documentElement.scrollWidth > document.documentElement.clientWidth";

  browserTest(
    "the reference finds an operation, shows it in four languages, and offers the sign-in to try it",
    async () => {
      const page = await openPage(desktop);
      await page.goto(`${service.baseUrl}/docs`);
      await picture(page, "docs");
      await page.keyboard.press("/");
      await page.keyboard.type("creates pool");
      const found = page.locator("#found").getByRole("link", { name: /Creates a pool POST \/api\/pools/ });
      await found.waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(/PoolService#PoolService_CreatePool$/);
      const section = page.locator("#PoolService_CreatePool");
      const languages = {
        curl: 'curl -sS --fail-with-body -X POST "$SWITCHYARD_ADDRESS/api/pools"',
        CLI: "service pool create",
        TypeScript: "await client.pools.create(",
        Python: "= client.pools.create(",
      };
      for (const [language, text] of Object.entries(languages)) {
        await section.getByRole("button", { name: language, exact: true }).click();
        await section.getByText(text).waitFor();
      }
      // The language of one sample is that of all, also on the next page.
      await page.goto(`${service.baseUrl}/docs/services/RoutingService`);
      await page.getByText("from switchyard import").first().waitFor();
      await page.locator("#RoutingService_Route").getByText("Try it").click();
      const link = page.locator("#RoutingService_Route").getByRole("link", { name: "Sign in to send it" });
      assert.match(
        (await link.getAttribute("href"))!,
        /\/auth\/sign-in\?return_to=%2Fdocs%2Fservices%2FRoutingService%23Rou/,
      );
      await picture(page, "docs-service");
    },
  );

  browserTest("pages fit on a phone's screen", async () => {
    const page = await openPage(phone);
    const key = service.adminKey;
    const answer = await fetch(`${service.baseUrl}/api/v2/notifications/trigger`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({
        workflow_key: "phone",
        subscriber_external_id: "somebody.with.a.long.name.and.a.longer.address",
        subscriber: { email: "somebody.with.a.long.name.and.a.longer.address@mail.example.org" },
        overrides: { email: { subject: "A subject that is longer than a phone is wide", body: "<p>Hello.</p>" } },
      }),
    });
    assert.ok(answer.ok, await answer.text());
    await page.goto(`${service.baseUrl}/outbox#key=${key}`);
    const hasMessage = `document.querySelector(".outbox details") !== null`;
    await waitUntil(page, hasMessage);
    await page.evaluate(`document.querySelector(".outbox details").open = true`);
    await picture(page, "outbox-phone");
    assert.equal(await page.evaluate(sticksOut), false, "the outbox is wider than the screen");
    const subject = "document.querySelector('.outbox summary strong').getBoundingClientRect()";
    const subjectWidth = (shown: Page) => shown.evaluate<number>(`${subject}.width`);
    assert.ok((await subjectWidth(page)) > 250, "the subject has its own line");
    const paths = ["/docs", "/docs/services/PoolService", "/docs/events/pool.created"];
    for (const path of [...paths, "/docs/events", "/errors", "/errors/NOT_FOUND"]) {
      await page.goto(service.baseUrl + path);
      await picture(page, `phone${path.replaceAll("/", "-")}`);
      assert.equal(await page.evaluate(sticksOut), false, `${path} is wider than the screen`);
    }
    await page.getByRole("button", { name: "Contents" }).click();
    await page.getByRole("navigation").getByRole("link", { name: "Events" }).click();
    await page.waitForURL(/\/docs\/events$/);
    const wide = await openPage(desktop);
    await wide.goto(`${service.baseUrl}/outbox#key=${key}`);
    await waitUntil(wide, hasMessage);
    await picture(wide, "outbox");
    assert.ok((await subjectWidth(wide)) > 250, "a long address leaves room for the subject");
  });

  test("no page makes a cross-origin request or violates its own content security policy", () => {
    assert.ok(requested.length > 10);
    for (const url of requested) assert.ok(url.startsWith(service.baseUrl) || url === "about:srcdoc", url);
    assert.deepEqual(problems, []);
  });
});
