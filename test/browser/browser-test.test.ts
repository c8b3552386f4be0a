import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { runFiles } from "../harness/run-files.ts";
import { findChromium } from "./chromium.ts";

const program = await findChromium();
const none = "This machine has no Chromium: no test failed in a browser. Install it, or set CHROMIUM.";

test("a test that fails in a browser says what it waited for, names a picture of the page, and leaves no page open", {
  skip: program === undefined && none,
}, async (t) => {
  const failing = `
    import { browserTest, launchBrowser, waitUntil } from "${new URL("browser-test.ts", import.meta.url).href}";
    let browser;
    browserTest("waits", async () => {
      browser = await launchBrowser(${JSON.stringify(program)});
      const page = await (await browser.newContext()).newPage();
      await page.goto("data:text/html,<title>Shop</title>");
      await waitUntil(page, "document.title === 'Paid'", 500);
    });
    browserTest("next", async () => console.log("open contexts:", browser.contexts().length));`;
  const { success, output } = await runFiles(t, { failing });
  assert.equal(success, false);
  assert.match(output, /^FAIL failing\.test\.mjs: waits$/m);
  assert.match(output, /Waited 0\.5 s for: document\.title === 'Paid'/);
  const [, path] = /data:text\/html,<title>Shop<\/title> is shown in (\S+\.png)/.exec(output)!;
  t.after(() => rmSync(path!));
  assert.equal(readFileSync(path!).toString("latin1", 1, 4), "PNG");
  assert.match(output, /^open contexts: 0$/m);
  assert.match(output, /^\[1\/1\] FAIL failing\.test\.mjs \(1 of 2, /m);
});
