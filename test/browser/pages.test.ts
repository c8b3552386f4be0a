import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { type Browser, findChromium, startBrowser } from "./chromium.ts";

const program = await findChromium();
const none = "This machine has no Chromium: the pages were not looked at in a browser. Install it, or set CHROMIUM.";
if (program === undefined) console.error(none);

describe("in a browser", { skip: program === undefined && none }, () => {
  let service: TestService;
  let browser: Browser;
  before(async () => {
    service = await startService({
      "notification.allow_unknown_workflows": "true",
      "notification.outbox.enabled": "true",
    });
    browser = await startBrowser(program!);
  });
  after(() => browser?.close());

  /** Saves a screenshot when SCREENSHOTS names a folder. */
  async function picture(name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) writeFileSync(join(folder, `${name}.png`), await browser.page.screenshot());
  }

  /** Whether anything overflows the viewport horizontally. */
  const sticksOut = "document.documentElement.scrollWidth > document.documentElement.clientWidth";

  test("the reference finds an operation and sends a request with a key", async () => {
    const { page } = browser;
    await page.resize(1280, 900);
    await page.open(`${service.baseUrl}/docs`);
    await picture("docs");
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
    await page.open(`${service.baseUrl}/docs/services/EnvironmentService#EnvironmentService_ListEnvironments`);
    await page.evaluate(`(() => {
      const section = document.querySelector("#EnvironmentService_ListEnvironments");
      section.querySelector(".try").open = true;
      section.querySelector("input[name=limit]").value = "2";
      section.querySelector("form").requestSubmit();
    })()`);
    await page.until(
      `document.querySelector("#EnvironmentService_ListEnvironments .status").textContent.startsWith("200")`,
    );
    const text = "document.querySelector('#EnvironmentService_ListEnvironments .response').textContent";
    await page.until(`${text}.includes('"has_more"')`);
    assert.equal(JSON.parse(await page.evaluate<string>(text)).data.length, 2);
    const curl = "document.querySelector('#EnvironmentService_ListEnvironments .curl').textContent";
    assert.match(await page.evaluate<string>(curl), /^curl .*"\$ADDRESS\/api\/v2\/environments/);
    await picture("docs-service");
  });

  test("pages fit on a phone's screen", async () => {
    const { page } = browser;
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
    await page.resize(390, 844);
    await page.open(`${service.baseUrl}/outbox#key=${key}`);
    await page.until(`document.querySelector(".outbox details")`);
    await page.evaluate(`document.querySelector(".outbox details").open = true`);
    await picture("outbox-phone");
    assert.equal(await page.evaluate(sticksOut), false, "the outbox is wider than the screen");
    const subject = "document.querySelector('.outbox summary strong').getBoundingClientRect()";
    const subjectWidth = () => page.evaluate<number>(`${subject}.width`);
    assert.ok((await subjectWidth()) > 250, "the subject has its own line");
    for (const path of ["/docs", "/docs/services/PoolService", "/errors", "/errors/NOT_FOUND"]) {
      await page.open(service.baseUrl + path);
      await picture(`phone${path.replaceAll("/", "-")}`);
      assert.equal(await page.evaluate(sticksOut), false, `${path} is wider than the screen`);
    }
    await page.resize(1280, 900);
    await page.open(`${service.baseUrl}/outbox`);
    await page.until(`document.querySelector(".outbox details")`);
    await picture("outbox");
    assert.ok((await subjectWidth()) > 250, "a long address leaves room for the subject");
  });

  test("no page makes a cross-origin request or violates its own content security policy", () => {
    const { requested, errors } = browser.page;
    assert.ok(requested.length > 10);
    for (const url of requested) assert.ok(url.startsWith(service.baseUrl) || url === "about:srcdoc", url);
    assert.deepEqual(errors, []);
  });
});
