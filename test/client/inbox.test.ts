import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { browserTest, launchBrowser } from "../browser/browser-test.ts";
import { findChromium } from "../browser/chromium.ts";
import { accessibilityViolations } from "../console/console-browser.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type Sender } from "../notifications/sender-fixture.ts";
import { type InboxSite, startInboxSite } from "./inbox-page.ts";

const program = await findChromium();
const none = "This machine has no Chromium: the inbox of the client was not looked at. Install it, or set CHROMIUM.";

describe("the inbox of the client, in a browser", { skip: program === undefined && none }, () => {
  let service: TestService;
  let sender: Sender;
  let site: InboxSite;
  let browser: Browser;
  let workflow_key: string;
  const problems: string[] = [];

  before(async () => {
    site = await startInboxSite();
    service = await startService({ "cors.allowed_origins": site.origin });
    sender = await newSender(service);
    workflow_key = await sender.workflow({
      channels: { in_app: { title: "{{ payload.title }}", body: "B", data: { link: "{{ payload.link }}" } } },
    });
    site.serve({
      baseUrl: service.baseUrl,
      subscriberOf: (path) => path.slice(1),
      createToken: async (id) => (await sender.ok("POST", `${pathOf(id)}/tokens`, {})).data,
    });
    browser = await launchBrowser(program!);
  });

  const pathOf = (id: string) => `/api/v2/notification/subscribers/${id}`;
  const say = (id: string, title: string, link = "/orders") =>
    sender.trigger({ workflow_key, subscriber_id: id, payload: { title, link } });
  const counts = async (id: string) => {
    const { data } = await sender.ok("GET", `${pathOf(id)}/inbox:unread`);
    return [data.unseen_count, data.unread_count];
  };

  async function openPage(
    id: string,
    colorScheme: "light" | "dark" = "light",
    context?: BrowserContext,
  ): Promise<Page> {
    const opened = context ?? (await browser.newContext({ colorScheme }));
    const page = await opened.newPage();
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("request", (request) => request.headers()["x-api-key"] && problems.push(`${request.url()} has a key`));
    await page.goto(`${site.origin}/${id}`);
    await page.getByRole("button", { name: /^Notifications/ }).waitFor();
    return page;
  }

  const bell = (page: Page, news: number) =>
    page.getByRole("button", { name: news === 0 ? "Notifications" : `Notifications, ${news} new`, exact: true });
  const message = (page: Page, title: string) => page.getByRole("link", { name: new RegExp(title) });

  /** Runs a script with the element as `inbox`, and waits until the connection of its inbox is closed. */
  async function closes(page: Page, script: string): Promise<void> {
    const closed = page.waitForEvent("requestfailed", (request) => request.url().includes("/inbox:watch"));
    await page.evaluate(`{ const inbox = document.querySelector("switchyard-inbox"); ${script} }`);
    await closed;
  }
  /** A tab that another one covers. Browsers without windows do not cover any. */
  const cover = (visibility: "hidden" | "visible") => `
    Object.defineProperty(document, "visibilityState", { value: "${visibility}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));`;

  browserTest(
    "messages arrive live, are seen when they are shown, and read when they are opened, in every tab",
    async () => {
      const { id } = await sender.subscriber();
      await say(id, "Paid");
      const page = await openPage(id);
      await bell(page, 1).waitFor();
      const other = await openPage(id, "light", page.context());
      await bell(other, 1).waitFor();
      await closes(other, cover("hidden"));
      await page.evaluate(`document.querySelector("switchyard-inbox").addEventListener("switchyard-counts", (event) => {
      window.counts = event.detail;
    })`);
      await page.bringToFront();
      await bell(page, 1).click();
      await message(page, "Paid").waitFor();
      await until(async () => (await counts(id)).join() === "0,1");
      await say(id, "Shipped");
      await message(page, "Shipped").waitFor();
      const titles = await page.getByRole("listitem").locator(".name").allInnerTexts();
      assert.deepEqual(
        titles.map((title) => title.replace(/^Unread:\s*/, "")),
        ["Shipped", "Paid"],
      );
      await page.getByText("New message: Shipped").waitFor({ state: "attached" });
      await page.evaluate(`document.addEventListener("switchyard-message", (event) => {
      event.preventDefault();
      window.opened = event.detail.title;
    })`);
      await message(page, "Paid").click();
      await until(async () => (await counts(id)).join() === "0,1");
      assert.equal(await page.evaluate("window.opened"), "Paid");
      assert.equal(page.url(), `${site.origin}/${id}`, "the page handled the link");
      await page.getByRole("button", { name: "Mark all as read" }).click();
      await until(async () => (await counts(id)).join() === "0,0");
      await page.getByRole("button", { name: "Mark all as read" }).waitFor({ state: "hidden" });
      assert.deepEqual(await page.evaluate("window.counts"), { unseenCount: 0, unreadCount: 0 });
      await other.bringToFront();
      await other.evaluate(cover("visible"));
      await bell(other, 0).waitFor();
      await closes(other, `inbox.removeAttribute("subscriber")`);
      await closes(page, "inbox.remove()");
    },
  );

  browserTest("everything works with the keyboard, and the focus is never lost", async () => {
    const { id } = await sender.subscriber();
    for (const title of ["One", "Two", "Three"]) await say(id, title);
    const page = await openPage(id);
    await bell(page, 3).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await message(page, "Three").waitFor();
    const focused = () =>
      page.evaluate(`(() => {
        const { activeElement } = document.querySelector("switchyard-inbox").shadowRoot;
        return activeElement?.getAttribute("aria-label") ?? activeElement?.textContent ?? "nothing";
      })()`);
    await until(async () => /Three/.test(String(await focused())));
    await page.keyboard.press("ArrowDown");
    assert.match(String(await focused()), /Two/);
    // A message that arrives moves the others, and not the focus.
    await say(id, "Four");
    await message(page, "Four").waitFor();
    assert.match(String(await focused()), /Two/);
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Archive: Two");
    await page.keyboard.press("Enter");
    await message(page, "Two").waitFor({ state: "detached" });
    assert.match(String(await focused()), /One/);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    assert.match(String(await focused()), /^Notifications/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await page.getByRole("button", { name: "Move to inbox: Two" }).click();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await message(page, "Two").waitFor();
  });

  browserTest("the panel is accessible in both themes", async () => {
    const { id } = await sender.subscriber();
    await say(id, "Paid");
    for (const theme of ["light", "dark"] as const) {
      const page = await openPage(id, theme);
      await page.getByRole("button", { name: /^Notifications/ }).click();
      await message(page, "Paid").waitFor();
      const panel = `document.querySelector("switchyard-inbox").shadowRoot.querySelector(".panel")`;
      const background = await page.evaluate(`getComputedStyle(${panel}).backgroundColor`);
      assert.equal(background, theme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 24, 31)");
      assert.deepEqual(await accessibilityViolations(page), []);
      await page.context().close();
    }
  });

  browserTest("a revoked token is replaced, and what happened meanwhile is shown", async () => {
    const { id } = await sender.subscriber();
    const page = await openPage(id);
    await page.getByRole("button", { name: /^Notifications/ }).click();
    await page.getByText("Nothing here.").waitFor();
    const before = site.tokenCount();
    await sender.ok("POST", `${pathOf(id)}/tokens:revoke`, {});
    await say(id, "Later");
    await message(page, "Later").waitFor();
    assert.ok(site.tokenCount() > before);
  });

  browserTest("text of a message is never markup, and only addresses of web pages are links", async () => {
    const { id } = await sender.subscriber();
    await say(id, "<img src=x onerror=alert(1)>", "javascript:alert(1)");
    const page = await openPage(id);
    await bell(page, 1).click();
    await page.getByRole("button", { name: /^Unread: <img src=x onerror=alert\(1\)>/ }).waitFor();
    assert.equal(await page.locator("switchyard-inbox img, switchyard-inbox a").count(), 0);
  });

  test("no page violates its policy, fails in a script, or has a key", () => {
    // The browser reports the refusal of the revoked token, which is expected.
    assert.deepEqual(
      problems.filter((problem) => !/status of 401/.test(problem)),
      [],
    );
  });
});
