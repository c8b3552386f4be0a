import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, type TestContext, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { accessibilityViolations } from "../console/console-browser.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { createHealthFixture, type HealthFixture } from "../operations/health-fixture.ts";
import { browserTest, launchBrowser } from "./browser-test.ts";
import { findChromium } from "./chromium.ts";

const program = await findChromium();
const none = "This machine has no Chromium: nobody saw the health page. Install it, or set CHROMIUM.";

type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

describe("the health page in a browser", { skip: program === undefined && none }, () => {
  let service: TestService;
  let browser: Browser;
  let fixture: HealthFixture;
  let storageState: StorageState;
  const problems: string[] = [];
  const sticksOut = "document.documentElement.scrollWidth > document.documentElement.clientWidth";

  before(async () => {
    // Without background work, nothing changes what the test has written.
    service = await startService({}, undefined, "api");
    fixture = await createHealthFixture(service, "checkout");
    browser = await launchBrowser(program!);
    storageState = await signIn();
  });

  /** Signs in with a link. */
  async function signIn(): Promise<StorageState> {
    const context = await browser.newContext();
    const rest = restClient(service.baseUrl, service.adminKey);
    const { body } = await rest.call("POST", "/api/v2/identity/login-links", {});
    const page = await context.newPage();
    await page.goto(body.data.url);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(/\/workspaces\//);
    const state = await context.storageState();
    await context.close();
    return state;
  }

  /** A page of somebody who is signed in; without scripts unless they are wanted. */
  async function openPage(options: {
    colorScheme: "light" | "dark";
    width?: number;
    javaScriptEnabled?: boolean;
  }): Promise<Page> {
    const { colorScheme, width = 1100, javaScriptEnabled = false } = options;
    const viewport = { width, height: 900 };
    const context = await browser.newContext({ colorScheme, viewport, javaScriptEnabled, storageState });
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" && !/favicon/.test(message.location().url)) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    return page;
  }

  /** Stores heartbeats until a test ends, so that a slow one does not see stale ones. */
  async function keepBeating(t: TestContext): Promise<void> {
    await fixture.beat();
    const timer = setInterval(() => fixture.beat(), 2_000);
    t.after(() => clearInterval(timer));
  }

  /** Saves a screenshot when SCREENSHOTS names a folder. */
  async function picture(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await page.screenshot({ path: join(folder, `health-${name}.png`), fullPage: true });
  }

  browserTest(
    "a person reads the verdict, the reasons and the next steps, and chooses the environment and the period",
    async (t) => {
      await keepBeating(t);
      await fixture.endRuns("failed", 2);
      await fixture.endRuns("succeeded", 12);
      await fixture.addItems(1200, 4000);
      await fixture.addLetters("open", 3);
      const page = await openPage({ colorScheme: "light" });
      await page.goto(`${service.baseUrl}/workspaces/platform/health`);
      assert.match((await page.getByRole("status").textContent())!, /production\s+Healthy/);
      await page.getByLabel("Environment").selectOption("checkout");
      await page.getByLabel("Period").selectOption("6h");
      await page.getByRole("button", { name: "Show" }).click();
      await page.waitForURL("**/health?environment=checkout&period=6h");
      assert.match((await page.getByRole("status").textContent())!, /checkout\s+Unhealthy/);
      const depth = page.getByRole("row", { name: /Ready queue depth/ });
      assert.match((await depth.textContent())!, /unhealthy\s*1,200/);
      const steps = await page.locator("ol > li").allTextContents();
      assert.equal(steps.length, 4);
      assert.match(steps[0]!, /READY_QUEUE_DEPTH_UNHEALTHY, runbook docs\/runbooks\/drain-ready-queues\.md/);
      await picture(page, "unhealthy-light");
      await page.locator("summary").click();
      assert.equal(JSON.parse((await page.locator("#report").textContent())!).verdict, "unhealthy");
    },
  );

  browserTest("the page is readable in the dark and on a phone", async () => {
    await fixture.beat({ name: "workflow_runs", ageS: 600 });
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
    assert.equal(await phone.evaluate(sticksOut), false);
    await picture(phone, "phone");
    await phone.context().close();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    browserTest(
      `with scripts it is a page of the console, with its navigation, in the ${colorScheme} theme`,
      async (t) => {
        await keepBeating(t);
        const page = await openPage({ colorScheme, width: 1360, javaScriptEnabled: true });
        await page.goto(`${service.baseUrl}/workspaces/platform/health?environment=checkout&period=7d`);
        const menu = page.getByRole("navigation", { name: "Pages" });
        assert.equal(await menu.getByRole("link", { name: "Health" }).getAttribute("aria-current"), "page");
        await page.getByRole("status").getByText("Unhealthy", { exact: true }).waitFor();
        assert.match((await page.getByRole("row", { name: /Ready queue depth/ }).textContent())!, /Unhealthy1,200/);
        assert.equal(await page.locator("ol > li").count(), 4);
        assert.deepEqual(await accessibilityViolations(page), []);
        await picture(page, `console-${colorScheme}`);
        await page.getByRole("main").getByLabel("Environment").selectOption("production");
        await page.getByRole("status").getByText("Healthy", { exact: true }).waitFor();
        assert.equal(new URL(page.url()).search, "?environment=production&period=7d");

        // A mark on the document shows that the links lead to other pages and back without loading it again.
        await page.evaluate("document.mark = true");
        await menu.getByRole("link", { name: "Pools" }).click();
        await page.getByRole("heading", { level: 1, name: "Pools" }).waitFor();
        await menu.getByRole("link", { name: "Health" }).click();
        await page.getByRole("heading", { level: 1, name: "Health" }).waitFor();
        assert.equal(await page.evaluate("document.mark"), true);
        await page.context().close();
      },
    );

    browserTest(`on a phone, its menu opens and leads to other pages, in the ${colorScheme} theme`, async (t) => {
      await keepBeating(t);
      const page = await openPage({ colorScheme, width: 390, javaScriptEnabled: true });
      await page.goto(`${service.baseUrl}/workspaces/platform/health?environment=checkout&period=7d`);
      await page.getByRole("status").getByText("Unhealthy", { exact: true }).waitFor();
      assert.equal(await page.evaluate(sticksOut), false);
      await picture(page, `console-phone-${colorScheme}`);
      await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("link", { name: "Pools" }).click();
      await page.getByRole("heading", { level: 1, name: "Pools" }).waitFor();
      await page.context().close();
    });
  }

  browserTest("the console says why there is no report, beside its navigation", async () => {
    const page = await openPage({ colorScheme: "light", javaScriptEnabled: true });
    const before = problems.length;
    await page.goto(`${service.baseUrl}/workspaces/platform/health?environment=nowhere`);
    await page
      .getByRole("alert")
      .getByText(/environment/)
      .waitFor();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.context().close();
    // The browser logs the refused request.
    assert.ok(problems.splice(before).every((problem) => /404/.test(problem)));
  });

  test("no page violates its policy", () => {
    assert.deepEqual(problems, []);
  });
});
