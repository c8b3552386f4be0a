import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { createClient } from "../../clients/typescript/src/client.ts";
import { readOperations } from "../../src/definitions/index.ts";
import { browserTest, waitUntil } from "../browser/browser-test.ts";
import { findChromium } from "../browser/chromium.ts";
import { cli } from "../cli/cli-run.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  openSearch,
  startConsoleBrowser,
  waitForContent,
} from "./console-browser.ts";
import { changingControls } from "./read-only-controls.ts";

const program = await findChromium();
const none = "This machine has no Chromium: the console was not looked at in a browser. Install it, or set CHROMIUM.";

let service: TestService;
let rest: ReturnType<typeof restClient>;
let poolId: string;

before(async () => {
  service = await startService({ "notification.outbox.enabled": "true" });
  rest = restClient(service.baseUrl, service.adminKey);
  const { body } = await rest.call("POST", "/api/pools", { name: "tickets", config: { item_events: true } });
  poolId = body.data.id;
  await rest.call("POST", `/api/pools/${poolId}/recipients`, { name: "ada", capacity: 2 });
  await rest.call("POST", "/api/route", { pool_id: poolId, type: "ticket", attributes: { language: "de" } });
});

const dist = new URL("../../console/dist/", import.meta.url);
const sizeOf = (name: string) => gzipSync(readFileSync(new URL(name, dist))).length;

test("the first load is at most 160 kB of JavaScript and 25 kB of styles, compressed", () => {
  const first = new Set(["main.js"]);
  for (const name of first) {
    const imports = readFileSync(new URL(name, dist), "utf8").matchAll(
      /(?:from|import)"(?:\.|\/console)\/([\w-]+\.js)"/g,
    );
    for (const [, imported] of imports) first.add(imported!);
  }
  assert.ok(first.size > 1, "the shared code was found");
  assert.ok([...first].reduce((sum, name) => sum + sizeOf(name), 0) <= 160_000);
  assert.ok(sizeOf("main.css") <= 25_000);
});

test("every scope that the console asks for is one of an operation", () => {
  // One field of a candidate needs a scope of its own.
  const known = new Set(["promotion:waive", ...readOperations().flatMap(({ scopes }) => scopes)]);
  const sources = globSync("console/src/**/*.{ts,tsx}").map((file) => readFileSync(file, "utf8"));
  const asked = sources.flatMap((text) => [...text.matchAll(/can\("([^"]+)"\)|"([a-z_]+:(?:read|write))"/g)]);
  assert.ok(asked.length > 50);
  for (const [, called, listed] of asked) assert.ok(known.has(called ?? listed!), called ?? listed);
});

test("the samples of empty pages are calls that exist, on the command line and in the client", async () => {
  const sources = globSync("console/src/pages/**/*.tsx").map((file) => readFileSync(file, "utf8"));
  const samples = (name: string) =>
    sources.flatMap((text) =>
      [...text.matchAll(new RegExp(`\\b${name}: *(?:\`([^\`]*)\`|"([^"]*)")`, "g"))].map(([, one, two]) => one ?? two!),
    );
  const commands = samples("cli");
  assert.ok(commands.length > 25);
  for (const sample of commands) {
    const plain = sample.replace(/^service /, "").replaceAll(/'[^']*'|"[^"]*"/g, "…");
    const [first = "", second = ""] = plain.split(/\s+/);
    const words = first === "route" ? [first] : [first, second];
    const { out } = await cli([...words, "--help"]);
    assert.match(out, new RegExp(`^Usage: service ${words.join(" ")}\\b`), sample);
    const given = plain.split(/\s+/).slice(words.length);
    const options = given.filter((word) => word.startsWith("--"));
    for (const option of options) assert.ok(out.includes(`  ${option} `), `${option} in ${sample}`);
    const taken = /^Usage:.*$/m.exec(out)![0].match(/<\w+>/g) ?? [];
    assert.equal(given.length - 2 * options.length, taken.length, `arguments of ${sample}`);
  }
  const client = createClient({ baseUrl: service.baseUrl }) as unknown as Record<string, Record<string, unknown>>;
  for (const sample of samples("sdk")) {
    const [, area = "", method = ""] = /(?:client\.)?(\w+)\.(\w+)\(/.exec(sample) ?? [];
    assert.equal(typeof client[area]?.[method], "function", sample);
  }
});

test("a browser without a session is sent to the sign-in and back, and unknown files do not exist", async () => {
  const page = await rest.call("GET", "/workspaces/platform/pools?status=STATUS_ACTIVE", undefined, {
    "x-api-key": "",
  });
  assert.equal(page.status, 303);
  assert.equal(
    page.headers.get("location"),
    `/auth/sign-in?return_to=${encodeURIComponent("/workspaces/platform/pools?status=STATUS_ACTIVE")}`,
  );
  assert.equal((await rest.call("GET", "/console")).headers.get("location"), "/auth/sign-in?return_to=%2Fconsole");
  for (const path of [
    "/console/index.html",
    "/console/../package.json",
    "/console/..%2fpackage.json",
    "/console/none.js",
  ]) {
    assert.equal((await rest.call("GET", path)).status, 404, path);
  }
  assert.equal((await rest.call("POST", "/console/main.js", {})).status, 405);
});

describe("in a browser", { skip: program === undefined && none }, () => {
  let browser: ConsoleBrowser;
  before(async () => {
    browser = await startConsoleBrowser(program!);
  });

  browserTest(
    "somebody who signs in lands in the console, and creates a pool with a rule that is checked while it is typed",
    async () => {
      const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
      assert.equal(root, `${service.baseUrl}/workspaces/platform`);
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      assert.equal(await page.getByRole("main").count(), 1, "what the page came with is gone");
      assert.deepEqual(await accessibilityViolations(page), []);

      await (await openSearch(page)).fill("pools");
      await page.getByRole("option", { name: "Pools" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "New pool" }).click();
      await page.getByLabel("Name").fill("leads");
      await page.getByRole("button", { name: "Create pool" }).click();
      await page.getByRole("heading", { name: "leads" }).waitFor();

      await page.getByRole("link", { name: "Rules" }).click();
      await page.getByRole("button", { name: "Add rule" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("German");
      await page.getByLabel("Condition, in CEL").fill(`item.attributes.language === "de"`);
      await page.getByText("Not valid").waitFor();
      await page.getByLabel("Condition, in CEL").fill(`item.attributes.language == "de"`);
      await page.getByText("Matches the sample").waitFor();
      await page.getByLabel("Then").selectOption("hold");
      await page.getByLabel("Hold for").fill("30 s");
      assert.deepEqual(await accessibilityViolations(page), []);
      await page.getByRole("button", { name: "Add rule" }).last().click();
      await page.getByRole("cell", { name: "German" }).waitFor();

      const { body } = await rest.call("GET", "/api/pools");
      const leads = body.data.find(({ name }: { name: string }) => name === "leads");
      assert.equal(leads.rule_count, 1);
      assert.deepEqual(
        await page.evaluate("[document.cookie, ...Object.keys(localStorage), ...Object.keys(sessionStorage)]"),
        [""],
      );
    },
  );

  browserTest("pages are live: an event appears without a reload", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey, "dark");
    await page.goto(`${root}/events?type=order.*`);
    await page.getByText("Live", { exact: true }).waitFor();
    await rest.call("POST", "/api/events", { type: "order.paid", subject: "A-4711" });
    await page.getByRole("button", { name: /order\.paid/ }).waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.getByRole("button", { name: /order\.paid/ }).click();
    await page.getByRole("heading", { name: "order.paid" }).waitFor();
    assert.match(page.url(), /open=01/);
  });

  browserTest("the search finds records beyond the first page, and says what it has not searched", async () => {
    const client = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
    const nameOf = (number: number) => `Person ${String(number).padStart(5, "0")}`;
    for (let first = 0; first < 5_200; first += 400) {
      const subscribers = Array.from({ length: 400 }, (_, index) => ({
        external_id: `ext-${first + index}`,
        first_name: nameOf(first + index),
        email: `${first + index}@example.com`,
      }));
      await client.subscribers.upsertBatch({ subscribers });
    }
    const listed = await client.subscribers.list({ limit: 1000 }).take(6_000);
    const { page } = await browser.signIn(service.baseUrl, service.adminKey);
    const input = await openSearch(page);
    const status = page.getByRole("dialog").getByRole("status");

    // The second page of the list has it.
    const second = listed[1_500]!;
    await input.fill(second.first_name.toUpperCase());
    await page.getByRole("option", { name: second.first_name }).waitFor();
    await input.fill("Person 0");
    await status.getByText("12 of the records that match").waitFor();
    assert.equal(await page.getByRole("dialog").getByRole("option").count(), 12);

    // This one is not among those that are read. A part of its name does not find it, and its whole address does.
    const last = listed[5_100]!;
    await input.fill(last.first_name);
    await status.getByText("Only the first 5,000 subscribers were searched.").waitFor();
    assert.equal(await page.getByRole("dialog").getByRole("option").count(), 0);
    await input.fill(last.email);
    await page.getByRole("option", { name: last.first_name }).waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/notifications/subscribers/${last.id}$`));

    // Enter before the last letter is even shown goes to the first record.
    await openSearch(page);
    await page.keyboard.type("ticket");
    await page.evaluate(`{
      const input = document.activeElement;
      input.value = "tickets";
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    }`);
    await page.waitForURL(new RegExp(`/pools/${poolId}$`));
  });

  browserTest("what the search reads is not among the requests of a page", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    await page.goto(`${root}/pools`);
    await page.getByRole("table").waitFor();
    await (await openSearch(page)).fill("ticke");
    await page.getByRole("option", { name: "tickets" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Copy as curl" }).click();
    const shown = page.getByRole("dialog").locator("pre");
    await shown.first().waitFor();
    const requests = await shown.allTextContents();
    assert.ok(requests.some((text) => text.includes("/api/pools")));
    assert.ok(!requests.some((text) => text.includes("/subscribers")), requests.join("\n"));
  });

  browserTest(
    "the keyboard skips the menu, and is never lost after a search, a dialog or a change of the page",
    async () => {
      const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
      const hasFocus = (selector: string) =>
        waitUntil(page, `document.activeElement.matches(${JSON.stringify(selector)})`);
      await page.goto(`${root}/pools`);
      await page.getByRole("table").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await hasFocus("main");
      await page.keyboard.press("Tab");
      assert.match((await page.evaluate("document.activeElement.textContent")) as string, /^(Live|Connecting)$/);

      await openSearch(page);
      await page.keyboard.press("Escape");
      await hasFocus(".page-head button");

      await page.getByRole("button", { name: "New pool" }).press("Enter");
      await hasFocus("dialog .dialog-body input");
      await page.keyboard.press("Escape");
      await hasFocus(".page-head button.primary");

      await page.getByRole("link", { name: "tickets" }).press("Enter");
      await page.getByRole("heading", { level: 1, name: "tickets" }).waitFor();
      await hasFocus("main");
    },
  );

  browserTest("on a narrow screen the menu gets the keyboard, and Escape gives it back", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    await page.setViewportSize({ width: 390, height: 844 });
    await useMenu(page, root);
  });

  browserTest("the menu also gets the keyboard of somebody who wants no motion", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.setViewportSize({ width: 390, height: 844 });
    await useMenu(page, root);
  });

  /** Opens and closes the menu of a narrow screen with the keyboard. */
  async function useMenu(page: Page, root: string): Promise<void> {
    await page.goto(`${root}/pools`);
    const menu = page.getByRole("button", { name: "Menu" });
    const openMenu = async () => {
      await menu.press("Enter");
      await waitUntil(page, `document.activeElement.matches(".nav a[aria-current='page']")`);
      assert.equal(await menu.getAttribute("aria-expanded"), "true");
    };
    await openMenu();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.keyboard.press("Escape");
    await waitUntil(page, `document.activeElement.ariaLabel === "Menu"`);
    assert.equal(await menu.getAttribute("aria-expanded"), "false");
    await openMenu();
    await page.mouse.click(370, 600);
    await waitUntil(page, `document.querySelector("[data-menu]").dataset.menu === "closed"`);
  }

  browserTest("a viewer sees no control that would be refused", async () => {
    const { body } = await rest.call("POST", "/api/v2/api-keys", { name: "viewer", roles: ["viewer"] });
    const { page, root } = await browser.signIn(service.baseUrl, body.data.secret);
    assert.equal(await page.getByRole("link", { name: "Secrets" }).count(), 0, "viewers read no secrets");
    const paths = [
      ...["/pools", `/pools/${poolId}?tab=recipients`, "/schedules", "/notifications?tab=suppressions"],
      ...[`/queues/${poolId}`, `/queues/${poolId}?tab=offers`, `/queues/${poolId}?tab=bulk`, "/keys", "/members"],
    ];
    for (const path of paths) {
      await page.goto(root + path);
      await page.locator("table, .empty").first().waitFor();
      await waitForContent(page);
      assert.deepEqual(await changingControls(page), [], path);
    }
  });

  browserTest("the reference sends requests with the session, and what one returns is in the next", async () => {
    const { page } = await browser.signIn(service.baseUrl, service.adminKey, "dark");
    const environments = `${service.baseUrl}/docs/services/EnvironmentService`;
    const send = async (id: string) => {
      const section = page.locator(`#${id}`);
      await section.getByText("Try it").click();
      await section.getByRole("button", { name: "Send" }).click();
      await section.getByRole("status").getByText("200 OK").waitFor();
      await waitUntil(page, `document.querySelector("#${id} .response").textContent.endsWith("}")`);
      return { section, data: JSON.parse((await section.getByLabel("Response").textContent())!).data };
    };
    // The first example is complete as it stands.
    await page.goto(environments, { waitUntil: "commit" });
    const created = (await send("EnvironmentService_CreateEnvironment")).data;
    // So is the second, which has the id that the first returned: on the same page, and on the next one.
    const { section, data } = await send("EnvironmentService_GetEnvironment");
    assert.equal(data.id, created.id);
    await page.goto(environments, { waitUntil: "commit" });
    await section.scrollIntoViewIfNeeded();
    const sample = section.getByLabel("Sample");
    await sample.filter({ hasText: `/api/v2/environments/${created.id}"` }).waitFor();
    await section.getByText("Try it").click();
    await section.getByText(created.name, { exact: true }).waitFor();
    assert.equal(await section.getByRole("combobox", { name: "environment_id" }).inputValue(), created.id);
    assert.deepEqual(await accessibilityViolations(page), []);

    // Records that no answer had come from the lists of the API.
    const rules = page.locator("#RuleService_ListRules");
    await page.evaluate("sessionStorage.clear()");
    await page.goto(`${service.baseUrl}/docs/services/RuleService#RuleService_ListRules`, { waitUntil: "commit" });
    await rules.getByText("Try it").click();
    const known = (await rest.call("GET", "/api/pools")).body.data.map(({ id }: { id: string }) => id);
    await waitUntil(
      page,
      `${JSON.stringify(known)}.includes(document.querySelector("#RuleService_ListRules input").value)`,
    );

    // An error says where its meaning is.
    await rules.getByLabel("pool_id").fill("none");
    await rules.getByRole("button", { name: "Send" }).click();
    await rules.getByRole("link", { name: "What NOT_FOUND means" }).click();
    await page.getByRole("heading", { name: "How to mend it" }).waitFor();
    await page.goto(`${service.baseUrl}/docs/events/pool.created`);
    assert.deepEqual(await accessibilityViolations(page), []);
  });

  browserTest("the workspace of another tenant does not exist", async () => {
    await rest.call("POST", "/api/tenants", { name: "Globex", slug: "globex" });
    const { page } = await browser.signIn(service.baseUrl, service.adminKey);
    const foreign = await page.goto(`${service.baseUrl}/workspaces/globex/pools`);
    assert.equal(foreign!.status(), 404);
    const unknown = await page.goto(`${service.baseUrl}/workspaces/nobody`);
    assert.equal(unknown!.status(), 404);
    const own = await page.goto(`${service.baseUrl}/workspaces/platform/pools`);
    assert.match(
      own!.headers()["content-security-policy"]!,
      /^default-src 'none';.*script-src 'self'; style-src 'self'/,
    );
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    const expected = /workspaces\/(globex|nobody).*404|RuleService.*404/;
    assert.deepEqual(
      browser.problems.filter((problem) => !expected.test(problem)),
      [],
    );
  });
});
