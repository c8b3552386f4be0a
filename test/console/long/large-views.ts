import assert from "node:assert/strict";
import { before, describe } from "node:test";
import type { Page } from "playwright-core";
import { browserTest, waitUntil } from "../../browser/browser-test.ts";
import { findChromium } from "../../browser/chromium.ts";
import { restClient } from "../../harness/rest.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { type ConsoleBrowser, countElements, startConsoleBrowser } from "../console-browser.ts";

const program = await findChromium();
assert.ok(program !== undefined, "There is no Chromium. Install it, or set CHROMIUM.");
const elementsMax = 2000;
/** Every row is loaded on the way to the last one. */
const scrollMsMax = 10 * 60_000;
const id = (index: number) => `01${String(index).padStart(24, "0")}`;

describe("large views", () => {
  let service: TestService;
  let browser: ConsoleBrowser;
  before(async () => {
    service = await startService();
    browser = await startConsoleBrowser(program);
  });

  browserTest("a table of 100,000 rows scrolls to its end with at most 2,000 elements", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    const total = 100_000;
    await serveList(page, /\/api\/decisions\?/, total, (index) => ({
      ...{
        decision_id: id(index),
        outcome: "routed",
        type: `ticket ${index}`,
        key: "",
        pool_id: "p",
        reason: "",
        recipient_id: "",
      },
      decided_at: new Date(1_790_000_000_000 - index * 1000).toISOString(),
    }));
    await page.goto(`${root}/decisions`);
    await scrollToEnd(page, ".table-scroll", `ticket ${total - 1}`);
    assert.ok((await countElements(page)) <= elementsMax);
  });

  browserTest("the history of a run with 50,000 events scrolls to its end with at most 2,000 elements", async () => {
    const rest = restClient(service.baseUrl, service.adminKey);
    const text = `dsl: "1"\nkey: long\ntimeout: 1h\nsteps: [{ id: done, transform: 1 }]`;
    const { body } = await rest.call("POST", "/api/workflow-definitions:import", { text, format: "yaml" });
    await rest.call("POST", `/api/workflow-definitions/${body.data.workflow_definition.id}/publish`, {});
    const { body: started } = await rest.call("POST", "/api/workflow-runs", { definition: "long" });
    const { page, root } = await browser.signIn(service.baseUrl, service.adminKey);
    const total = 50_000;
    await serveList(page, /\/history\?/, total, (index) => ({
      ...{ revision: index + 1, at: new Date(1_790_000_000_000 + index).toISOString() },
      entries: [{ kind: "step_completed", step: `step_${index}`, output: { index } }],
    }));
    await page.goto(`${root}/workflows/runs/${started.data.run.id}?tab=history`);
    await scrollToEnd(page, ".table-scroll", `step_${total - 1}`);
    assert.ok((await countElements(page)) <= elementsMax);
  });
});

/** Answers a list with as many rows as wanted, without storing them. */
async function serveList(page: Page, path: RegExp, total: number, rowOf: (index: number) => object): Promise<void> {
  await page.route(path, async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const first = Number(query.get("cursor") ?? "0");
    const last = Math.min(total, first + Number(query.get("limit")));
    const data = Array.from({ length: last - first }, (_, index) => rowOf(first + index));
    await route.fulfill({
      json: {
        data,
        total: 10_000,
        total_capped: true,
        next_cursor: last < total ? String(last) : "",
        has_more: last < total,
      },
    });
  });
}

/** Scrolls down until the last row is there. */
async function scrollToEnd(page: Page, scroller: string, lastText: string): Promise<void> {
  await page.locator(scroller).waitFor();
  await waitUntil(
    page,
    `(() => {
      const element = document.querySelector(${JSON.stringify(scroller)});
      element.scrollTop = element.scrollHeight;
      return element.textContent.includes(${JSON.stringify(lastText)});
    })()`,
    scrollMsMax,
  );
}
