// Connects an account with the tenant's own OAuth app, from the catalogue to a connection that works, only in the console.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { browserTest } from "../browser/browser-test.ts";
import { findChromium } from "../browser/chromium.ts";
import { connectTenant, issuerManifest } from "../connectors/connect-fixture.ts";
import { type OAuthIssuer, startOAuthIssuer } from "../connectors/oauth-issuer.ts";
import { startService, type TestService } from "../harness/service.ts";
import {
  accessibilityViolations,
  type ConsoleBrowser,
  startConsoleBrowser,
  waitForContent,
} from "./console-browser.ts";

const program = await findChromium();
const none = "This machine has no Chromium: no account was connected in the console. Install it, or set CHROMIUM.";

describe("connecting an account in the console", { skip: program === undefined && none }, () => {
  let service: TestService;
  let issuer: OAuthIssuer;
  let browser: ConsoleBrowser;

  before(async () => {
    service = await startService({ "egress.allowed_ip_nets": "127.0.0.0/8" });
    issuer = await startOAuthIssuer();
    await connectTenant(service).createProvider(issuerManifest(issuer, "acme"));
    browser = await startConsoleBrowser(program!);
  });

  browserTest("an operator adds an OAuth app, connects an account with it and tests the connection", async () => {
    const { page, root, context } = await browser.signIn(service.baseUrl, service.adminKey);
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
    await row.getByRole("button", { name: "Test" }).click();
    await page.getByText("The connection works.").waitFor();
  });

  test("no page violates its policy, fails in a script, or sends a key", () => {
    const own = browser.problems.filter((problem) => problem.includes(service.baseUrl));
    assert.deepEqual(own, []);
  });
});
