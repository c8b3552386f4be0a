// What somebody who changes a workspace does: workflows, connections, experiments, promotions and people, only in the console.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { browserTest } from "../../browser/browser-test.ts";
import { findChromium } from "../../browser/chromium.ts";
import { connectTenant, issuerManifest } from "../../connectors/connect-fixture.ts";
import { startOAuthIssuer } from "../../connectors/oauth-issuer.ts";
import { assignAll, scoreAll } from "../../experiments/experiment-fixture.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { startSignInIssuer } from "../../identity/oidc-issuer.ts";
import { activeContent, decisionOnly, keysOf, stagedPool, work } from "../../promotions/promotion-fixture.ts";
import { newTenant, type TenantFixture } from "../../routing/tenant-fixture.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  startConsoleBrowser,
  waitForContent,
} from "../console-browser.ts";
import { approveCandidate } from "../long/tasks.ts";

const program = await findChromium();
const none = "This machine has no Chromium: nobody changed a workspace in the console. Install it, or set CHROMIUM.";

describe("the everyday tasks of somebody who changes things", { skip: program === undefined && none }, () => {
  let service: TestService;
  let tenant: TenantFixture;
  let browser: ConsoleBrowser;

  before(async () => {
    service = await startService({ "egress.allowed_ip_nets": "127.0.0.0/8" });
    tenant = await newTenant(service, { slug: "acme" });
    browser = await startConsoleBrowser(program!);
  });

  /** Nothing is loading any more, and everybody can use what is shown. */
  async function isAccessible(page: Page): Promise<void> {
    await waitForContent(page);
    assert.deepEqual(await accessibilityViolations(page), []);
  }

  browserTest("write a workflow in YAML, publish it, start it and approve it", async () => {
    const { page } = await browser.signIn(service.baseUrl, tenant.key);
    const text = `# Who may be refunded.\ndsl: "1"\nkey: refund\ntimeout: 1d\nsteps:\n  - id: ask # a person\n    approval: { by: [role:admin], timeout: 1h }\n`;
    await page.getByRole("link", { name: "Workflows" }).click();
    await page.getByRole("link", { name: "Definitions" }).click();
    await page.getByRole("button", { name: "New workflow" }).click();
    const editor = page.getByRole("textbox", { name: "Document of the draft" });
    // What is wrong is listed with its line, and leads there.
    await editor.fill(text.replace("approval:", "aproval:"));
    await page.getByRole("listitem").filter({ hasText: "aproval" }).getByRole("button", { name: "Line 7" }).click();
    await page.keyboard.press("End");
    assert.deepEqual(await accessibilityViolations(page), []);
    await editor.fill(text);
    await page.getByText("Valid. A run has at most").waitFor();
    // The schema knows what can follow.
    await editor.press("Control+End");
    await page.keyboard.type("  - id: done\ntra");
    await page.getByRole("option", { name: "transform" }).waitFor();
    assert.deepEqual(await accessibilityViolations(page), []);
    await page.keyboard.press("Enter");
    await page.keyboard.type("=steps.ask");
    await page.getByText("Valid. A run has at most").waitFor();
    const written = `${text}  - id: done\n    transform: =steps.ask`;
    assert.equal(await editor.inputValue(), written);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("Version 1 is active.").waitFor();
    await page.waitForURL(/tab=draft/);

    await page.reload();
    await page.getByText("Valid. A run has at most").waitFor();
    assert.equal(await editor.inputValue(), written, "the draft comes back as it was written");
    await page.getByRole("button", { name: "Start run" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start run" }).click();
    await page.waitForURL(/workflows\/runs\//);
    const run = page.url();
    await page.getByRole("link", { name: "Open the approval" }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("You approved it.").waitFor();
    await page.getByText("The list is filtered, and no row matches.").waitFor();
    await page.getByRole("link", { name: "Remove the filters" }).click();
    await page.getByText("Nothing waits for a decision").waitFor();
    await page.goto(run);
    await page.locator("h1").getByText("Succeeded").waitFor();
  });

  browserTest("add an OAuth app, connect an account with it and test the connection", async () => {
    const issuer = await startOAuthIssuer();
    await connectTenant(service, tenant.key).createProvider(issuerManifest(issuer, "acme"));
    const { page, root, context } = await browser.signIn(service.baseUrl, tenant.key);
    const dialog = page.getByRole("dialog");
    const connectors = page.getByRole("navigation", { name: "Parts of connectors" });

    await page.goto(`${root}/connectors?q=acme`);
    await page.getByRole("link", { name: "Acme acme" }).click();
    await dialog.getByRole("link", { name: "Add your OAuth app" }).click();
    await page.getByRole("button", { name: "New app" }).first().click();
    assert.equal(await dialog.getByLabel("Provider").inputValue(), "acme", "the provider is already chosen");
    await dialog.getByLabel("Name", { exact: true }).fill("Our app");
    await dialog.getByLabel("Client id").fill("app-1");
    await dialog.getByLabel("Client secret").fill("a long secret");
    await dialog.getByRole("button", { name: "Add app" }).click();
    const redirectUri = await dialog.locator("pre").textContent();
    issuer.register({ clientId: "app-1", clientSecret: "a long secret", redirectUri: redirectUri! });
    await dialog.getByRole("button", { name: "Activate" }).click();
    await dialog.getByRole("button", { name: "Disable" }).waitFor();
    assert.ok(!(await page.content()).includes("a long secret"), "the page does not show the secret");
    await waitForContent(page);
    assert.deepEqual(await accessibilityViolations(page), []);

    await page.goto(`${root}/connectors?q=acme`);
    await page.getByRole("link", { name: "Acme acme" }).click();
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    await dialog.getByLabel("Name of the connection").fill("Support inbox");
    await dialog.getByRole("button", { name: "Create link" }).click();
    const opened = context.waitForEvent("page");
    await dialog.getByRole("link", { name: "Open the link" }).click();
    const hosted = await opened;
    await hosted.getByRole("button", { name: "Continue to Acme acme" }).click();
    await hosted.getByLabel("Account").fill("ada");
    await hosted.getByRole("button", { name: "Allow" }).click();
    await hosted.getByRole("heading", { name: "Account connected" }).waitFor();

    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await connectors.getByRole("link", { name: "Connections" }).click();
    const row = page.getByRole("row", { name: /Support inbox/ });
    await row.getByText("active").waitFor();
    await row.getByText("ada").waitFor();
    await page.setViewportSize({ width: 1400, height: 860 });
    const revoke = (await row.getByRole("button", { name: "Revoke" }).boundingBox())!;
    assert.ok(revoke.x + revoke.width <= 1400, "the actions are on the screen");
    await row.getByRole("button", { name: "Test" }).click();
    await page.getByText("The connection works.").waitFor();

    await tenant.ok("POST", "/api/v2/connector/connections", {
      ...{ name: "Mail", provider_key: "smtp", settings: { host: "mail.example.org", from: "news@example.org" } },
      credentials: { username: "acme", password: "nonsense" },
    });
    await page
      .getByRole("row", { name: /Mail smtp/ })
      .getByText("Not checked")
      .waitFor();
  });

  browserTest("take an experiment from its form to its result, and decide it", async () => {
    const { page, root } = await browser.signIn(service.baseUrl, tenant.key, "dark");
    const dialog = page.getByRole("dialog");
    await page.goto(`${root}/experiments`);
    await page.getByRole("button", { name: "New experiment" }).first().click();
    const metrics = dialog.getByRole("group", { name: /^Metrics, / });
    await metrics
      .nth(0)
      .getByLabel(/^Expected now/)
      .fill("10");
    await dialog.getByText(/There is no estimate yet\. .*Expected now, row 1: /).waitFor();
    await metrics
      .nth(0)
      .getByLabel(/^Expected now/)
      .fill("0.1");
    await metrics
      .nth(0)
      .getByLabel(/^Smallest lift/)
      .fill("0.02");
    await dialog.getByText(/^Planned units is 10000, but about /).waitFor();
    await dialog.getByRole("button", { name: /^Plan [\d,]+ units$/ }).click();
    await dialog.getByText(/^Planned units is/).waitFor({ state: "detached" });
    assert.ok(Number(await dialog.getByLabel("Planned units").inputValue()) > 10_000);
    await dialog.getByLabel("Planned units").fill("10000");
    await metrics
      .nth(0)
      .getByLabel(/^Smallest lift/)
      .fill("0.2");
    await dialog.getByText(/units find the smallest lifts/).waitFor();
    await dialog.getByRole("group", { name: "Metrics", exact: true }).getByRole("button", { name: "Add" }).click();
    await dialog.getByLabel(/^Name/).fill("Checkout");
    await dialog.getByRole("button", { name: "Create draft" }).click();
    await dialog.getByText("Complete or remove the marked rows.").waitFor();
    await metrics.nth(1).getByRole("button", { name: "Remove" }).click();
    await dialog.getByLabel("Key").first().fill("checkout");
    // Without a window, a unit counts as soon as it has a variant.
    await dialog.getByLabel("Score window").fill("0 s");
    await dialog.getByRole("button", { name: "Create draft" }).click();
    await page.getByRole("heading", { level: 1, name: "Checkout" }).waitFor();
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("The experiment is running.").waitFor();

    const [{ id }] = (await tenant.ok("GET", "/api/experiments")).data;
    await page.getByText(`/api/experiments/${id}/assign`).waitFor();
    await page.getByText(`/api/experiments/${id}/scores`).waitFor();
    const assigned = await assignAll(tenant, id, keysOf("user", 400));
    const buyers = assigned.filter(({ variant }, at) => at % 10 < (variant === "new" ? 8 : 2));
    await scoreAll(
      tenant,
      id,
      buyers.map(({ unit }) => ({ score_id: unit, unit, metric: "bought" })),
    );
    await page.getByText("Winner.", { exact: true }).waitFor();
    await page.getByRole("row", { name: /new.*bought/ }).waitFor();
    await isAccessible(page);
    await page.getByRole("button", { name: "Decide" }).click();
    await dialog.getByLabel("Everybody gets").selectOption("new");
    await dialog.getByLabel("Reason").fill("More people buy.");
    await dialog.getByRole("button", { name: "Decide" }).click();
    await page.getByText("Completed", { exact: true }).first().waitFor();
    const { data } = await tenant.ok("POST", `/api/experiments/${id}/assign`, { unit: "somebody else" });
    assert.deepEqual([data.variant, data.reason], ["new", "decided"]);
  });

  browserTest("take a change from its form to production and back, as two people", async () => {
    const poolId = await tenant.pool({ name: "leads" });
    for (const name of ["Ada", "Grace"]) await tenant.recipient(poolId, { name, ...decisionOnly });
    await work(tenant, poolId, keysOf("past", 16));
    const before = await activeContent(tenant, poolId);
    const { page } = await browser.signIn(service.baseUrl, tenant.key);
    const dialog = page.getByRole("dialog");
    await page.getByRole("link", { name: "Pools" }).click();
    await page.getByRole("link", { name: "leads" }).click();
    await page.getByRole("link", { name: "Strategy" }).click();
    await page.getByRole("button", { name: "Stage a version" }).click();
    await dialog.getByLabel("Strategy").selectOption("least_loaded");
    await dialog.getByRole("button", { name: "Stage version" }).click();
    await dialog.getByText("Version 2 is staged.").waitFor();
    assert.equal(await activeContent(tenant, poolId), before, "the pool routes as before");
    await dialog.getByRole("link", { name: "Create a candidate for a promotion" }).click();
    await dialog.getByLabel("Name").fill("To the least busy");
    // What was staged is chosen already.
    await dialog.getByRole("listitem").filter({ hasText: "leads" }).getByText("strategy, version 2").waitFor();
    await dialog.getByLabel("Success of at least").fill("0.5");
    await dialog.getByRole("button", { name: "Create candidate" }).click();
    await page.getByRole("button", { name: "Preflight" }).click();
    await page.getByRole("button", { name: "Score guardrails" }).click();
    await page.getByRole("button", { name: "Start canary" }).click();
    await dialog.getByLabel("Share of the keys, in percent").fill("50");
    await dialog.getByLabel("Keys that it needs").fill("3");
    await dialog.getByLabel("Largest loss of success").fill("1");
    await dialog.getByRole("button", { name: "Start canary" }).click();
    await page.getByText("The canary is running.").waitFor();
    await work(tenant, poolId, keysOf("now", 60));
    await page.getByText("The canary has passed. Stop canary ends it").waitFor();
    await page.getByRole("button", { name: "Stop canary" }).click();
    await page.getByText("The canary was stopped.").waitFor();
    await page.locator("h1").getByText("Canary passed").waitFor();
    await page
      .getByText(/^Canary: success of .*: Passed: 100\.0 % over \d+ keys, baseline 100\.0 % over \d+ keys\./)
      .waitFor();
    await page
      .getByText("It waits for an approval by a second person. Who may approve: a member with the role")
      .waitFor();
    assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0, "the first person cannot approve");
    const second = await browser.openLink(await service.service.linkApprover(tenant.id));
    await approveCandidate(second.page, second.root, "To the least busy");
    const confirmStep = async (step: "Promote" | "Roll back", done: string) => {
      await page.getByRole("button", { name: step }).click();
      await dialog.getByRole("button", { name: step }).click();
      await page.getByText(done).waitFor();
    };
    await confirmStep("Promote", "The versions are active.");
    assert.notEqual(await activeContent(tenant, poolId), before);
    await confirmStep("Roll back", "The previous versions are active.");
    assert.equal(await activeContent(tenant, poolId), before);
    await isAccessible(page);
  });

  browserTest("a candidate without traffic says what it lacks, and what to do", async () => {
    const { id, version } = await stagedPool(tenant);
    const { page, root } = await browser.signIn(service.baseUrl, tenant.key);
    const dialog = page.getByRole("dialog");
    await page.goto(`${root}/promotions?do=new`);
    await dialog.getByText("Success and latency are measured on items with a key.").waitFor();
    await dialog.getByLabel("Target").selectOption(id);
    // A version that is chosen need not be added.
    await dialog.getByLabel("Version", { exact: true }).selectOption(String(version));
    await dialog.getByRole("button", { name: "Create candidate" }).click();
    await page.getByRole("button", { name: "Preflight" }).click();
    await page.getByRole("button", { name: "Score guardrails" }).click();
    await page.locator("h1").getByText("Guardrails inconclusive").waitFor();
    await page.getByText("abort the candidate and create it again with a reason").waitFor();
    await isAccessible(page);
  });

  browserTest("connect an identity provider, and invite somebody who signs in with it", async () => {
    const issuer = await startSignInIssuer();
    issuer.accounts.grace = { email: "grace@acme.example", email_verified: true, name: "Grace" };
    const { page } = await browser.signIn(service.baseUrl, tenant.key);
    const dialog = page.getByRole("dialog");
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByRole("button", { name: "Invite" }).first().click();
    await dialog.getByText("no identity provider is connected").waitFor();
    await dialog.getByRole("link", { name: "Connect one" }).click();
    await page.getByRole("button", { name: "Connect a provider" }).first().click();
    await dialog.getByText("/auth/callback/<id>").waitFor();
    await dialog.getByLabel("Protocol").selectOption("saml");
    await dialog.getByLabel("Certificate of the provider").waitFor();
    await dialog.getByText("/auth/saml/<id>/acs").waitFor();
    await dialog.getByLabel("Protocol").selectOption("oidc");
    await dialog.getByLabel("Name").fill("Company login");
    await dialog.getByLabel("Issuer").fill(issuer.url);
    await dialog.getByLabel("Client id").fill(issuer.clientId);
    await dialog.getByLabel("Client secret").fill(issuer.clientSecret);
    await dialog.getByLabel("Roles of new members").fill("viewer, supervisor");
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    await dialog.getByText('"supervisor": must be one of').waitFor();
    await dialog.getByLabel("Roles of new members").fill("viewer");
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    await dialog.getByRole("heading", { name: "Callback address" }).waitFor();
    await dialog.getByText("Not tested").waitFor();
    const [callback, start] = await dialog.locator("pre").allTextContents();
    await dialog.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Change Company login" });
    await form.getByLabel("Email domains").fill("acme.example");
    await form.getByRole("button", { name: "Save changes" }).click();
    await dialog.getByText("_switchyard.acme.example").waitFor();
    issuer.register(callback!);
    await isAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByRole("button", { name: "Invite" }).first().click();
    await dialog.getByLabel("Email").fill("grace@acme.example");
    await dialog.getByLabel("Roles").fill("operator");
    await dialog.getByRole("button", { name: "Invite" }).click();
    const row = page.getByRole("row", { name: /grace@acme\.example/ });
    await row.getByText("Invited").waitFor();

    const grace = await browser.newPage();
    await grace.goto(start!);
    await grace.getByLabel("Account").fill("grace");
    await grace.getByRole("button", { name: "Allow" }).click();
    await grace.getByRole("heading", { name: "Overview" }).waitFor();
    await row.getByText("Active").waitFor();
    await row.getByText("operator").waitFor();
    await isAccessible(page);
    await page.getByRole("link", { name: "Single sign-on" }).click();
    await page
      .getByRole("row", { name: /Company login/ })
      .getByText("Active")
      .waitFor();
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    // Texts that are no YAML while they are typed, values that are refused, and pages of the providers.
    const own = browser.problems.filter((problem) => problem.includes(service.baseUrl));
    assert.deepEqual(
      own.filter((problem) => !/(definitions\/new|\/sso|\/experiments): .* status of 400/.test(problem)),
      [],
    );
  });
});
