import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { audience, startIssuer } from "../../access/issuer.ts";
import { browserTest } from "../../browser/browser-test.ts";
import { findChromium } from "../../browser/chromium.ts";
import { createPack, environmentId, storeReport } from "../../governance/evidence-fixture.ts";
import { afterFile } from "../../harness/after-file.ts";
import { findPrometheus, type PrometheusServer, whyNoPrometheus } from "../../harness/prometheus.ts";
import { restClient } from "../../harness/rest.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { until } from "../../harness/until.ts";
import {
  base,
  easyGuardrails,
  keysOf,
  routingArtifact,
  runToStoppedCanary,
  stagedPool,
  work,
} from "../../promotions/promotion-fixture.ts";
import { newTenant, type TenantFixture } from "../../routing/tenant-fixture.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  startConsoleBrowser,
  waitForContent,
} from "../console-browser.ts";
import { approveCandidate, queryAnalytics } from "./tasks.ts";

const program = await findChromium();
assert.ok(program !== undefined, "There is no Chromium. Install it, or set CHROMIUM.");

describe("promotions and analytics in the console", () => {
  let service: TestService;
  let prometheus: PrometheusServer | undefined;
  let tenant: TenantFixture;
  let browser: ConsoleBrowser;
  /** A link that signs Ada in. She is a person: keys cannot approve. */
  let link: () => Promise<string>;

  before(async () => {
    const issuer = await startIssuer(["ada"]);
    afterFile(() => issuer.goDown());
    prometheus = await findPrometheus();
    service = await startService({
      ...{ "api.oidc_issuer": issuer.url, "api.oidc_audience": audience },
      ...(prometheus && { "analytics.enabled": "true", "analytics.prometheus_url": prometheus.url }),
    });
    // The stored series is of nobody. The tenant has the series that are scraped.
    const atS = Math.floor(Date.now() / 1000) - 60;
    const stored = `# TYPE nothing counter\nnothing_total 1 ${atS}\n# EOF\n`;
    await prometheus?.start(stored, new URL(service.metricsUrl).host);
    tenant = await newTenant(service);
    const email = "ada@acme.example";
    await tenant.ok("POST", "/api/v2/members", { email, roles: ["operator", "promotion_approver"] });
    link = async () => {
      const token = await issuer.token("ada", { tenant_id: tenant.id, email, email_verified: true });
      const headers = { authorization: `Bearer ${token}` };
      const answer = await restClient(service.baseUrl).call("POST", "/api/v2/identity/login-links", {}, headers);
      assert.equal(answer.status, 200, answer.text);
      return answer.body.data.url;
    };
    browser = await startConsoleBrowser(program);
  });
  after(() => prometheus?.stop());

  browserTest(
    "a candidate appears while it is created, shows its timeline, and is approved by a second person",
    async () => {
      const { page, root } = await browser.openLink(await link());
      await page.goto(`${root}/promotions`);
      await page.getByText("No candidate").waitFor();
      const pool = await stagedPool(tenant);
      const { data } = await tenant.ok("POST", base, {
        name: "New recipient",
        artifacts: [routingArtifact(pool)],
        guardrails: easyGuardrails,
      });
      await page.locator("a.row-link", { hasText: "New recipient" }).waitFor();
      await runToStoppedCanary(tenant, data.id, [pool]);
      await approveCandidate(page, root, "New recipient");
      await page.getByRole("button", { name: "Promote" }).waitFor();
      assert.deepEqual(await accessibilityViolations(page), []);
      const { data: candidate } = await tenant.ok("GET", `${base}/${data.id}`);
      assert.deepEqual([candidate.state, candidate.approval.note], ["approved", "The canary and the rules."]);
    },
  );

  browserTest("the simulation of a candidate shows who would have got which items, with examples to open", async () => {
    const pool = await stagedPool(tenant);
    const [first] = await work(tenant, pool.id, keysOf("past", 16));
    const artifacts = [routingArtifact(pool)];
    const { data } = await tenant.ok("POST", base, { name: "Simulated", artifacts, guardrails: easyGuardrails });
    const { data: recipient } = await tenant.ok("GET", `/api/recipients/${pool.after}`);
    const { page, root } = await browser.signIn(service.baseUrl, tenant.key);
    await page.goto(`${root}/promotions/${data.id}`);
    await page.getByRole("link", { name: "What if" }).click();
    await page.getByText("16 of 16").waitFor();
    const row = page.getByRole("row", { name: recipient.name });
    assert.deepEqual((await row.getByRole("cell").allTextContents()).slice(1, 4), ["0", "0", "16"]);
    await page.getByRole("button", { name: "Last week" }).click();
    await page.getByText("16 of 16").waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.locator(`a[href$="decisions/${first.decision_id}"]`).click();
    await page.getByText("How it was decided").waitFor();
  });

  browserTest(
    "a candidate with a pack shows what is missing, and that its gate opens when the receipts are there",
    async () => {
      const pool = await stagedPool(tenant);
      const version = (await tenant.ok("GET", `/api/pools/${pool.id}/versions/${pool.version}`)).data;
      const subject = { kind: "routing", name: pool.id, version: String(pool.version), sha256: version.sha256 };
      const pack = await createPack(tenant, await environmentId(tenant, "production"));
      await pack.add(subject);
      const artifacts = [routingArtifact(pool)];
      const request = { name: "With evidence", artifacts, guardrails: easyGuardrails, pack_id: pack.id };
      const { data } = await tenant.ok("POST", base, request);
      await runToStoppedCanary(tenant, data.id, [pool]);
      const { page, root } = await browser.openLink(await link());
      await page.goto(`${root}/promotions/${data.id}`);
      const evidence = page.locator(".card", { has: page.getByRole("heading", { name: "Evidence" }) });
      await evidence.getByText("Closed", { exact: true }).waitFor();
      const required = evidence.getByRole("listitem");
      await required.filter({ hasText: "Canary" }).getByText("Satisfied", { exact: true }).waitFor();
      for (const type of ["Runtime", "Scenario"]) {
        await required.filter({ hasText: type }).getByText("Missing", { exact: true }).waitFor();
      }
      await pack.receipt("runtime", [subject], await storeReport(service, tenant, pack.environmentId));
      await pack.receipt("scenario", [subject]);
      await evidence.getByText("Open", { exact: true }).waitFor();
      await evidence.getByText("Missing", { exact: true }).waitFor({ state: "detached" });
      await pack.receipt("scenario", [subject], { result: "failed" });
      await required.filter({ hasText: "Scenario" }).getByText("Failed", { exact: true }).waitFor();
      assert.deepEqual(await accessibilityViolations(page), []);
    },
  );

  browserTest("a query of metrics shows a chart", async (t) => {
    if (prometheus === undefined) return t.skip(whyNoPrometheus());
    const query = "sum by (outcome) (routing_decisions_total)";
    const poolId = await tenant.pool();
    await tenant.ok("POST", "/api/route", { pool_id: poolId, type: "task" });
    const seriesOf = async () => (await tenant.ok("POST", "/api/v1/analytics/query", { query })).data.series;
    await until(async () => (await seriesOf()).length > 0);
    const [{ labels }] = await seriesOf();
    const { page, root } = await browser.openLink(await link(), "dark");
    await queryAnalytics(page, root, query, `outcome=${labels.outcome}`);
    await waitForContent(page);
    assert.deepEqual(await accessibilityViolations(page), []);
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    assert.deepEqual(browser.problems, []);
  });
});
