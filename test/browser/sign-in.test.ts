import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { startSignInIssuer } from "../identity/oidc-issuer.ts";
import { type SamlIdp, startSamlIdp } from "../identity/saml-idp.ts";
import { browserTest, launchBrowser } from "./browser-test.ts";
import { findChromium } from "./chromium.ts";

const program = await findChromium();
const none = "This machine has no Chromium: nobody signed in with a browser. Install it, or set CHROMIUM.";

describe("signing in with a browser", { skip: program === undefined && none }, () => {
  let service: TestService;
  let browser: Browser;
  let rest: ReturnType<typeof restClient>;
  let idp: SamlIdp;
  let slug: string;
  const problems: string[] = [];

  before(async () => {
    service = await startService({ "identity.saml.enabled": "true" });
    rest = restClient(service.baseUrl, service.adminKey);
    slug = (await rest.call("GET", "/api/tenants")).body.data[0].slug;
    browser = await launchBrowser(program!);
  });

  async function profile(): Promise<BrowserContext> {
    const context = await browser.newContext();
    context.on("page", (page) => {
      page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error" && !/favicon/.test(message.location().url))
          problems.push(`${page.url()}: ${message.text()}`);
      });
    });
    return context;
  }

  /** Waits until a sign-in has led to the console, and opens the page with the own sessions. */
  async function landInConsole(page: Page): Promise<void> {
    await page.waitForURL(`${service.baseUrl}/workspaces/${slug}`);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.goto(`${service.baseUrl}/auth/sessions`);
    await page.getByRole("heading", { name: "You are signed in" }).waitFor();
  }

  /** Calls the API from a page of the service that may do so. The sign-in pages may not. */
  async function callFrom(page: Page, method: string, path: string, body?: object) {
    const reference = await page.context().newPage();
    await reference.goto(`${service.baseUrl}/docs`);
    const headers = { "content-type": "application/json", "x-switchyard-session": "1" };
    const init = JSON.stringify({ method, headers, ...(body && { body: JSON.stringify(body) }) });
    const script = `fetch(${JSON.stringify(path)}, ${init}).then(async (answer) => ({ status: answer.status, body: await answer.json() }))`;
    const answer = await reference.evaluate(script);
    await reference.close();
    return answer as { status: number; body: { data: Record<string, unknown> } };
  }

  browserTest(
    "a login link signs in after a click, leaves no token in the address, and its page shows and ends sessions",
    async () => {
      const { body } = await rest.call("POST", "/api/v2/identity/login-links", {});
      const context = await profile();
      const page = await context.newPage();
      await page.goto(body.data.url);
      assert.equal(page.url(), `${service.baseUrl}/auth/link`);
      await page.getByRole("button", { name: "Sign in" }).click();
      await landInConsole(page);
      assert.equal(await page.evaluate("document.cookie"), "", "scripts do not see the cookie");
      const [cookie] = await context.cookies(service.baseUrl);
      assert.deepEqual([cookie!.httpOnly, cookie!.sameSite], [true, "Lax"]);
      const written = await callFrom(page, "POST", "/api/v2/environments", { key: "browser" });
      assert.equal(written.status, 200);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "You are signed out" }).waitFor();
      assert.equal((await context.cookies(service.baseUrl)).length, 0);
    },
  );

  browserTest("a person signs in at an OpenID Connect provider", async () => {
    const issuer = await startSignInIssuer();
    const created = await rest.call("POST", "/api/v2/identity/connections", {
      name: "Issuer",
      just_in_time: true,
      default_roles: ["viewer"],
      oidc: { issuer: issuer.url, client_id: issuer.clientId, client_secret: issuer.clientSecret },
    });
    issuer.register(created.body.data.callback_url);
    issuer.accounts.tim = { email: "tim@acme.example", email_verified: true, name: "Tim" };
    const page = await (await profile()).newPage();
    await page.goto(`${service.baseUrl}/auth/sign-in`);
    await page.getByLabel("Workspace").fill(slug);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "Continue with Issuer" }).click();
    await page.getByLabel("Account").fill("tim");
    await page.getByRole("button", { name: "Allow" }).click();
    await landInConsole(page);
    const { body } = await callFrom(page, "GET", "/api/v2/identity/session");
    assert.deepEqual(body.data.roles, ["viewer"]);
    await rest.call("DELETE", `/api/v2/identity/connections/${created.body.data.id}`);
    assert.equal((await callFrom(page, "GET", "/api/v2/identity/session")).status, 401);
    problems.splice(0, problems.length, ...problems.filter((each) => !/status of 401/.test(each)));
  });

  browserTest("a person signs in at a SAML identity provider, and out of both", async () => {
    idp = await startSamlIdp();
    const created = await rest.call("POST", "/api/v2/identity/connections", {
      name: "Company login",
      just_in_time: true,
      default_roles: ["viewer"],
      saml: { idp_entity_id: idp.entityId, sso_url: idp.ssoUrl, slo_url: idp.sloUrl, certificates: [idp.certificate] },
    });
    const metadata = await (await fetch(created.body.data.metadata_url)).text();
    idp.register(metadata);
    const context = await profile();
    const page = await context.newPage();
    await page.goto(created.body.data.sign_in_url);
    await page.getByLabel("Email").fill("ada@acme.example");
    await page.getByRole("button", { name: "Sign in here" }).click();
    await landInConsole(page);
    const { body } = await callFrom(page, "GET", "/api/v2/identity/session");
    assert.equal((body.data.session as { method: string }).method, "saml");
    assert.ok(idp.signedIn.has("ada@acme.example"));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "You are signed out", exact: true }).waitFor();
    assert.ok(!idp.signedIn.has("ada@acme.example"), "the identity provider got a signed sign-out");
    assert.ok(!(await context.cookies(service.baseUrl)).some(({ name }) => name.startsWith("switchyard-session")));
  });

  test("no page violates its policy or fails in a script", () => {
    assert.deepEqual(problems, []);
  });
});
