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

  browserTest("the reference finds an operation and sends a request with a key", async () => {
    const page = await openPage(desktop);
    await page.goto(`${service.baseUrl}/docs`);
    await picture(page, "docs");
    await page.evaluate(`(() => {
      const filter = document.querySelector("#filter");
      filter.value = "creates a pool";
      filter.dispatchEvent(new Event("input"));
    })()`);
    const shown = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".operations li")].filter((each) => each.checkVisibility()).map((each) => each.textContent.trim())`,
    );
    assert.equal(shown.length, 1);
    assert.match(shown[0]!, /POST\s+Creates a pool.*\/api\/pools/);

    await page.evaluate(`(() => {
      const form = document.querySelector("#key-form");
      form.elements.key.value = ${JSON.stringify(service.adminKey)};
      form.requestSubmit();
    })()`);
    await page.goto(`${service.baseUrl}/docs/services/EnvironmentService#EnvironmentService_ListEnvironments`);
    await page.evaluate(`(() => {
      const section = document.querySelector("#EnvironmentService_ListEnvironments");
      section.querySelector(".try").open = true;
      section.querySelector("input[name=limit]").value = "2";
      section.querySelector("form").requestSubmit();
    })()`);
    await waitUntil(
      page,
      `document.querySelector("#EnvironmentService_ListEnvironments .status").textContent.startsWith("200")`,
    );
    const text = "document.querySelector('#EnvironmentService_ListEnvironments .response').textContent";
    await waitUntil(page, `${text}.includes('"has_more"')`);
    assert.equal(JSON.parse(await page.evaluate<string>(text)).data.length, 2);
    const curl = "document.querySelector('#EnvironmentService_ListEnvironments .curl').textContent";
    assert.match(await page.evaluate<string>(curl), /^curl .*"\$ADDRESS\/api\/v2\/environments/);
    await picture(page, "docs-service");
  });

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
    for (const path of ["/docs", "/docs/services/PoolService", "/errors", "/errors/NOT_FOUND"]) {
      await page.goto(service.baseUrl + path);
      await picture(page, `phone${path.replaceAll("/", "-")}`);
      assert.equal(await page.evaluate(sticksOut), false, `${path} is wider than the screen`);
    }
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
