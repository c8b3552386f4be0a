import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
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
  close(): Promise<void>;
}

/** The two looks of the console. */
export type Theme = "light" | "dark";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts a browser. */
export async function startConsoleBrowser(program: string): Promise<ConsoleBrowser> {
  const problems: string[] = [];
  const browser: Browser = await chromium.launch({
    executablePath: program.includes("/") ? program : `/usr/bin/${program}`,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  });
  async function openLink(url: string, theme: Theme = "light") {
    const context = await browser.newContext({ colorScheme: theme, viewport: { width: 1360, height: 860 } });
    context.on("page", (page) => watch(page, problems));
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(/\/workspaces\//);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    return { page, root: page.url(), context };
  }

  return {
    problems,
    openLink,
    async signIn(baseUrl, apiKey, theme) {
      const { body } = await restClient(baseUrl, apiKey).call("POST", "/api/v2/identity/login-links", {});
      return openLink(body.data.url, theme);
    },
    close: () => browser.close(),
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

/** Waits until an expression is true in a page. The policy of the console forbids the evaluation that Playwright's own wait uses. */
export async function waitUntil(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate(expression))) await page.waitForTimeout(40);
}

/** Waits until nothing on a page is loading any more. */
export function waitForContent(page: Page): Promise<void> {
  return waitUntil(page, `document.querySelector("[aria-busy]") === null`);
}
