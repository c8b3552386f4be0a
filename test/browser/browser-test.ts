import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterFile } from "../harness/after-file.ts";
import { sized } from "../harness/run-size.ts";

/** The limit of one wait. It is also Playwright's own, which names what it waited for. */
const waitMsMax = 30_000;
/** The limit of a whole test, for waits without their own: an evaluation in a page that never ends. */
const testMsMax = sized(3 * 60_000, 30 * 60_000);
const pictureMsMax = 5_000;
const browsers = new Set<Browser>();

/** Starts a browser, and closes it after the last test of the file. */
export async function launchBrowser(program: string): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: program.includes("/") ? program : `/usr/bin/${program}`,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
      ...["--disable-sync", "--no-first-run", "--disable-dev-shm-usage"],
    ],
  });
  browsers.add(browser);
  afterFile(() => {
    browsers.delete(browser);
    return browser.close();
  });
  return browser;
}

/** Declares a test in a browser. The pages that it opens are closed when it ends, also when it fails. */
export function browserTest(name: string, run: (t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    const earlier = openContexts();
    try {
      await withPictures(() => run(t));
    } finally {
      for (const context of openContexts()) if (!earlier.includes(context)) await context.close();
    }
  });
}

/** Runs a part of a test in a browser. A failure names a picture of each open page. */
export async function withPictures(run: () => Promise<void>): Promise<void> {
  const ended = new AbortController();
  const limit = delay(testMsMax, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`The test did not end within ${testMsMax / 1000} s.`);
  });
  try {
    await Promise.race([run(), limit]);
  } catch (error) {
    const pages = openContexts().flatMap((context) => context.pages());
    const pictures = await Promise.all(pages.map(takePicture));
    throw new Error(`A test in a browser failed.${pictures.map((line) => `\n  ${line}`).join("")}`, { cause: error });
  } finally {
    ended.abort();
  }
}

/** Waits until an expression is true in a page. The policy of many pages forbids the evaluation that Playwright's own wait uses. */
export async function waitUntil(page: Page, expression: string, limitMs = waitMsMax): Promise<void> {
  const endsAtMs = performance.now() + limitMs;
  while (!(await page.evaluate(expression))) {
    if (performance.now() > endsAtMs) throw new Error(`Waited ${limitMs / 1000} s for: ${expression}`);
    await delay(40);
  }
}

function openContexts(): BrowserContext[] {
  return [...browsers].flatMap((browser) => browser.contexts());
}

/** Returns what to say about a page: its address, and where its picture is. */
async function takePicture(page: Page): Promise<string> {
  const path = join(tmpdir(), `switchyard-page-${randomUUID()}.png`);
  const taken = await page.screenshot({ path, timeout: pictureMsMax }).then(
    () => `is shown in ${path}`,
    (error) => `has no picture: ${error.message}`,
  );
  return `${page.url()} ${taken}`;
}
