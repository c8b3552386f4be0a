import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { launchBrowser, waitUntil } from "../browser/browser-test.ts";
import { restClient } from "../harness/rest.ts";

/** A browser for tests of the console. It records what must never happen: errors, violations of the policy, and keys. */
export interface ConsoleBrowser {
  readonly problems: readonly string[];
  /** Signs in as an API key and opens the console. Returns the page and the address of its workspace. */
  signIn(
    baseUrl: string,
    apiKey: string,
    theme?: Theme,
  ): Promise<{ page: Page; root: string; context: BrowserContext }>;
  /** Opens a link that signs in, as somebody did who got it. */
  openLink(url: string, theme?: Theme): Promise<{ page: Page; root: string; context: BrowserContext }>;
  /** Opens an empty page of somebody who has not signed in. */
  newPage(theme?: Theme): Promise<Page>;
}

/** The two looks of the console. */
type Theme = "light" | "dark";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts a browser. */
export async function startConsoleBrowser(program: string): Promise<ConsoleBrowser> {
  const problems: string[] = [];
  const browser = await launchBrowser(program);
  async function newPage(theme: Theme = "light") {
    const context = await browser.newContext({ colorScheme: theme, viewport: { width: 1360, height: 860 } });
    context.on("page", (page) => watch(page, problems));
    return context.newPage();
  }
  async function openLink(url: string, theme?: Theme) {
    const page = await newPage(theme);
    await page.goto(url);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(/\/workspaces\//);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    return { page, root: page.url(), context: page.context() };
  }

  return {
    problems,
    ...{ openLink, newPage },
    async signIn(baseUrl, apiKey, theme) {
      const { body } = await restClient(baseUrl, apiKey).call("POST", "/api/v2/identity/login-links", {});
      return openLink(body.data.url, theme);
    },
  };
}

function watch(page: Page, problems: string[]): void {
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`${page.url()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { "x-api-key": key, authorization } = request.headers();
    if (key !== undefined || authorization !== undefined) problems.push(`${request.url()} has a key`);
  });
}

/** The violations of the accessibility rules WCAG 2.1 A and AA on a page. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const found = await page.evaluate(`axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] })`);
  return (found as AxeResults).violations.map(
    ({ id, nodes }) => `${page.url()}: ${id}: ${nodes.map(({ target }) => target.join(" ")).join("; ")}`,
  );
}

/**
 * Ids, and parts of ids, in the text of a page. An id may stand where its label says that it is one, and in JSON and code, which
 * are shown as they are.
 */
export function idsInText(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const found = [];
    const part = /(?<![\\w-])…?(?=[0-9A-Z]*[0-9])(?=[0-9A-Z]*[A-Z])[0-9A-HJKMNP-TV-Z]{6,26}(?![\\w-])/;
    const nodes = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
      const element = node.parentElement;
      const match = part.exec(node.data);
      if (match === null || element.closest("code, pre, .json, svg, textarea") !== null) continue;
      const cell = element.closest("td");
      const title = cell?.closest("table").tHead.rows[0].cells[cell.cellIndex];
      const label = (element.closest("dd")?.previousElementSibling ?? title)?.textContent ?? "";
      const isLabelled = element.closest("[data-id]") !== null && /\\b(ids?|digest|group|sealed with)\\b/i.test(label);
      if (!isLabelled) found.push(location.pathname + location.search + ": " + label + " " + match[0]);
    }
    return found;
  })()`);
}

/** By how many pixels the content of a page, or of an open dialog, is wider than its place. */
export function overflowPx(page: Page): Promise<number> {
  return page.evaluate(
    `Math.max(...[...document.querySelectorAll("main, dialog")].map((each) => each.scrollWidth - each.clientWidth))`,
  );
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[] }[];
  }[];
}

/** The number of elements of a document. */
export function countElements(page: Page): Promise<number> {
  return page.evaluate(`document.getElementsByTagName("*").length`);
}

/** Opens the search with the keyboard. Returns its input, which has the focus. */
export async function openSearch(page: Page): Promise<Locator> {
  await page.keyboard.press("Control+k");
  await waitUntil(page, `document.activeElement.matches("dialog.palette input")`);
  return page.getByRole("combobox", { name: "Search pages and records" });
}

/** Chooses a record by a part of its name. */
export async function pick(place: Page | Locator, label: string, name: string): Promise<void> {
  await place.getByRole("combobox", { name: label }).fill(name);
  await place.getByRole("option", { name, exact: true }).click();
}

/** Waits until nothing on a page is loading any more. */
export function waitForContent(page: Page): Promise<void> {
  return waitUntil(page, `document.querySelector("[aria-busy]") === null`);
}
