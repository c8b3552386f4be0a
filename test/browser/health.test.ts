import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { createStage, type HealthStage } from "../operations/health-stage.ts";
import { findChromium } from "./chromium.ts";

const program = await findChromium();
const none = "This machine has no Chromium: nobody saw the health page. Install it, or set CHROMIUM.";
if (program === undefined) console.error(none);

describe("the health page in a browser", { skip: program === undefined && none }, () => {
  let service: TestService;
  let browser: Browser;
  let stage: HealthStage;
  const problems: string[] = [];

  before(async () => {
    // Without background work, nothing changes what the test has written.
    service = await startService({}, undefined, "api");
    stage = await createStage(service, "checkout");
    browser = await chromium.launch({
      executablePath: program!.includes("/") ? program! : `/usr/bin/${program}`,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
    });
  });
  after(() => browser?.close());

  /** A page of somebody who is signed in, without scripts afterwards. */
  async function openPage(options: { colorScheme: "light" | "dark"; width?: number }): Promise<Page> {
    const { colorScheme, width = 1100 } = options;
    const viewport = { width, height: 900 };
    const signingIn = await browser.newContext();
    const rest = restClient(service.baseUrl, service.adminKey);
    const { body } = await rest.call("POST", "/api/v2/identity/login-links", {});
    const first = await signingIn.newPage();
    await first.goto(body.data.url);
    await first.getByRole("button", { name: "Sign in" }).click();
    await first.waitForURL(/\/workspaces\//);
    const storageState = await signingIn.storageState();
    await signingIn.close();
    const context = await browser.newContext({ colorScheme, viewport, javaScriptEnabled: false, storageState });
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" && !/favicon/.test(message.location().url)) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    return page;
  }

  /** Saves a screenshot when SCREENSHOTS names a folder. */
  async function picture(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await page.screenshot({ path: join(folder, `health-${name}.png`), fullPage: true });
  }

  test("a person reads the verdict, the reasons and the next steps, and chooses the environment and the period", async () => {
    await stage.beat();
    await stage.endRuns("failed", 2);
    await stage.endRuns("succeeded", 12);
    await stage.addItems(1200, 4000);
    await stage.addLetters("open", 3);
    const page = await openPage({ colorScheme: "light" });
    await page.goto(`${service.baseUrl}/workspaces/platform/health`);
    assert.match((await page.getByRole("status").textContent())!, /production\s+Healthy/);
    await page.getByLabel("Environment").selectOption("checkout");
    await page.getByLabel("Period").selectOption("6h");
    await page.getByRole("button", { name: "Show" }).click();
    assert.match((await page.getByRole("status").textContent())!, /checkout\s+Unhealthy/);
    assert.equal(new URL(page.url()).search, "?environment=checkout&period=6h");
    const depth = page.getByRole("row", { name: /Ready queue depth/ });
    assert.match((await depth.textContent())!, /unhealthy\s*1,200/);
    const steps = await page.locator("ol > li").allTextContents();
    assert.equal(steps.length, 4);
    assert.match(steps[0]!, /READY_QUEUE_DEPTH_UNHEALTHY, runbook docs\/runbooks\/drain-ready-queues\.md/);
    await picture(page, "unhealthy-light");
    await page.getByText("The report as JSON").click();
    assert.equal(JSON.parse((await page.locator("#report").textContent())!).verdict, "unhealthy");
    await page.context().close();
  });

  test("the page is readable in the dark and on a phone", async () => {
    await stage.beat({ name: "workflow_runs", ageS: 600 });
    const path = `${service.baseUrl}/workspaces/platform/health?environment=checkout&period=1d`;
    const dark = await openPage({ colorScheme: "dark" });
    await dark.goto(path);
    assert.match((await dark.getByRole("status").textContent())!, /Unknown/);
    const background = await dark.evaluate("getComputedStyle(document.body).backgroundColor");
    assert.equal(background, "rgb(15, 19, 24)");
    await picture(dark, "unknown-dark");
    await dark.context().close();
    const phone = await openPage({ colorScheme: "light", width: 390 });
    await phone.goto(path);
    const sticksOut = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assert.equal(await phone.evaluate(sticksOut), false);
    await picture(phone, "phone");
    await phone.context().close();
  });

  test("no page violates its policy", () => {
    assert.deepEqual(problems, []);
  });
});
