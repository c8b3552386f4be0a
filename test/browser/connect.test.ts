import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { anyAction, type ConnectTenant, connectTenant, issuerManifest } from "../connectors/connect-fixture.ts";
import { type OAuthIssuer, startOAuthIssuer } from "../connectors/oauth-issuer.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { browserTest, launchBrowser, waitUntil } from "./browser-test.ts";
import { findChromium } from "./chromium.ts";

const program = await findChromium();
const none = "This machine has no Chromium: accounts were not connected in a browser. Install it, or set CHROMIUM.";

describe("connecting an account in a browser", { skip: program === undefined && none }, () => {
  let service: TestService;
  let issuer: OAuthIssuer;
  let tenant: ConnectTenant;
  let browser: Browser;
  let connectionId: string;
  const problems: string[] = [];

  before(async () => {
    service = await startService();
    issuer = await startOAuthIssuer();
    tenant = connectTenant(service);
    await tenant.createProvider(issuerManifest(issuer, "acme"));
    await tenant.createProvider(keyedManifest(issuer));
    issuer.register(await tenant.createConfig("acme", "app-1"));
    browser = await launchBrowser(program!);
  });

  /** A browser profile of its own, without any network but loopback. */
  async function profile(options: Parameters<Browser["newContext"]>[0] = {}): Promise<BrowserContext> {
    const context = await browser.newContext(options);
    context.on("page", (page) => {
      page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error") problems.push(`${page.url()}: ${message.text()}`);
      });
    });
    await context.route(/^https?:\/\/(?!(localhost|127\.0\.0\.1)[:/])/, (route) =>
      route.fulfill({ contentType: "text/html", body: "<title>Application</title>" }),
    );
    return context;
  }

  async function signIn(page: Page, login: string): Promise<void> {
    await page.getByLabel("Account").fill(login);
    await page.getByRole("button", { name: "Allow" }).click();
  }

  /** Connects an account as an end user does. */
  async function connectAs(login: string, request: object): Promise<{ id: string; page: Page }> {
    const session = await tenant.createSession({ ...request });
    const page = await (await profile()).newPage();
    await page.goto(session.connect_url);
    await page.getByRole("button", { name: "Continue to Acme acme" }).click();
    await signIn(page, login);
    return { id: session.id, page };
  }

  /** Saves a screenshot when SCREENSHOTS names a folder. */
  async function picture(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
  }

  browserTest("connect: the link opens the session, and the account that was granted is connected", async () => {
    const { id, page } = await connectAs("ada", { allowed_provider_keys: ["acme"], end_user: { id: "u1" } });
    await page.getByRole("heading", { name: "Account connected" }).waitFor();
    assert.equal(page.url(), `${service.baseUrl}/connect/${id}`, "neither token nor code stays in the address");
    const session = await tenant.session(id);
    assert.equal(session.status, "completed");
    connectionId = session.result_connection_id;
    const connection = await tenant.connection(connectionId);
    assert.deepEqual([connection.status, connection.account.id, connection.end_user.id], ["active", "ada", "u1"]);
    assert.equal((await tenant.must("POST", `/connections/${connectionId}/test`, {})).ok, true);
    const [cookie] = await page.context().cookies(service.baseUrl);
    assert.deepEqual([cookie!.httpOnly, cookie!.sameSite, cookie!.path], [true, "Lax", "/"]);
    assert.equal(await page.evaluate("document.cookie"), "", "scripts do not see the cookie");
  });

  browserTest("refresh and rotate: two refreshes use two refresh tokens, and the connection still works", async () => {
    const spent = issuer.tokenRequests.length;
    await tenant.must("POST", `/connections/${connectionId}/refresh`, {});
    await tenant.must("POST", `/connections/${connectionId}/refresh`, {});
    const tokens = issuer.tokenRequests.slice(spent).map((request) => request.get("refresh_token"));
    assert.equal(new Set(tokens).size, 2);
    assert.equal((await tenant.must("POST", `/connections/${connectionId}/test`, {})).ok, true);
  });

  browserTest(
    "reconnect: another account is a mismatch and leaves the old grant; the same account replaces it",
    async () => {
      const request = { connection_id: connectionId, end_user: { id: "u1" } };
      const other = await connectAs("mallory", request);
      await other.page.getByText("another account than the one").waitFor();
      assert.equal((await tenant.session(other.id)).error_code, "account_mismatch");
      const kept = await tenant.must("POST", `/connections/${connectionId}/test`, {});
      assert.deepEqual([kept.ok, kept.account.id], [true, "ada"]);
      const same = await connectAs("ada", request);
      await same.page.getByRole("heading", { name: "Account connected" }).waitFor();
      assert.equal((await tenant.session(same.id)).result_connection_id, connectionId);
    },
  );

  browserTest("revoke: the grant ends at the provider, and the connection with it", async () => {
    const revoked = issuer.revocations();
    await tenant.must("POST", `/connections/${connectionId}/revoke`, {});
    await until(async () => (await tenant.connection(connectionId)).provider_revocation === "succeeded");
    assert.ok(issuer.revocations() > revoked);
    const again = await tenant.call("POST", "/connect-sessions", {
      connection_id: connectionId,
      end_user: { id: "u1" },
    });
    assert.match(again.text, /CONNECTION_UNUSABLE/);
  });

  browserTest(
    "popup: only the window of an allowed origin gets the message, with session and status and nothing else",
    async () => {
      const [app, evil] = [await startOpener(), await startOpener()];
      for (const [opener, isAllowed] of [
        [app, true],
        [evil, false],
      ] as const) {
        const session = await tenant.createSession({ allowed_provider_keys: ["keyed"], allowed_origins: [app.origin] });
        const page = await (await profile()).newPage();
        await page.goto(opener.origin);
        const opened = page.waitForEvent("popup");
        await page.evaluate(`window.popup = window.open(${JSON.stringify(session.connect_url)})`);
        const popup = await opened;
        await popup.getByLabel("API key").fill("any-key");
        const closed = popup.waitForEvent("close");
        await popup.getByRole("button", { name: "Connect" }).click();
        await closed;
        // The message of a window may arrive after the news that it is closed.
        if (isAllowed) await waitUntil(page, "window.messages.length > 0");
        const messages = await page.evaluate<object[]>("window.messages");
        const expected = {
          data: { type: "switchyard.connect", session_id: session.id, status: "completed" },
          origin: service.baseUrl,
        };
        assert.deepEqual(messages, isAllowed ? [expected] : []);
        assert.equal((await tenant.session(session.id)).status, "completed");
      }
    },
  );

  browserTest("frame: pages of an allowed origin can embed the session, others cannot", async () => {
    const [app, evil] = [await startOpener(), await startOpener()];
    for (const [embedder, isAllowed] of [
      [app, true],
      [evil, false],
    ] as const) {
      const session = await tenant.createSession({ allowed_provider_keys: ["keyed"], allowed_origins: [app.origin] });
      const context = await profile();
      const page = await context.newPage();
      await page.goto(embedder.origin);
      const blocked = isAllowed ? undefined : page.waitForEvent("console", { predicate: isPolicyReport });
      await page.evaluate(`{
        const frame = document.createElement("iframe");
        frame.src = ${JSON.stringify(session.connect_url)};
        document.body.append(frame);
      }`);
      const frame = page.frameLocator("iframe");
      if (isAllowed) {
        await frame.getByLabel("API key").fill("any-key");
        await frame.getByRole("button", { name: "Connect" }).click();
        await waitUntil(page, "window.messages.length > 0");
        assert.equal((await tenant.session(session.id)).status, "completed");
      } else {
        await blocked;
        const shown = page.frames().map((each) => each.url());
        assert.ok(!shown.some((url) => url.startsWith(service.baseUrl)), shown.join(" "));
        assert.equal((await tenant.session(session.id)).status, "pending");
      }
      await context.close();
    }
    problems.splice(0, problems.length, ...problems.filter((each) => !/frame-ancestors/.test(each)));
  });

  browserTest("redirect: the end user returns to the application, also after a form", async () => {
    const uris = { success_redirect_uri: "https://app.example/ok", error_redirect_uri: "https://app.example/bad" };
    const session = await tenant.createSession({ allowed_provider_keys: ["keyed"], ...uris });
    const page = await (await profile()).newPage();
    await page.goto(session.connect_url);
    await page.getByLabel("API key").fill("any-key");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.waitForURL(`https://app.example/ok?session_id=${session.id}&status=completed`);
    const oauth = await connectAs("ada", { allowed_provider_keys: ["acme"], ...uris });
    await oauth.page.waitForURL(`https://app.example/ok?session_id=${oauth.id}&status=completed`);
  });

  browserTest("without scripts the page says what needs them, and all further steps work", async () => {
    const session = await tenant.createSession({ allowed_provider_keys: ["acme", "keyed"] });
    const scripted = await profile();
    const first = await scripted.newPage();
    await first.goto(session.connect_url);
    // The page that opens the link has the same heading, and no cookie yet.
    await first.getByRole("link", { name: "Acme acme" }).waitFor();
    const plain = await profile({ javaScriptEnabled: false });
    const page = await plain.newPage();
    const locked = await tenant.createSession({ allowed_provider_keys: ["acme"] });
    await page.goto(locked.connect_url);
    await page.getByText("Turn on JavaScript to open this link").waitFor();
    await picture(page, "connect-no-script");
    await plain.addCookies(await scripted.cookies(service.baseUrl));
    await page.goto(`${service.baseUrl}/connect/${session.id}`);
    await page.getByRole("link", { name: "Acme acme" }).click();
    await page.getByRole("button", { name: "Continue to Acme acme" }).click();
    await signIn(page, "ada");
    await page.getByRole("heading", { name: "Account connected" }).waitFor();
  });

  browserTest("the page is usable with the keyboard and fits on a phone, in light and dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [name, viewport] of [
        ["phone", { width: 360, height: 740 }],
        ["desktop", { width: 1100, height: 800 }],
      ] as const) {
        const context = await profile({ colorScheme, viewport });
        const page = await context.newPage();
        const shot = (view: string) => picture(page, `connect-${view}-${name}-${colorScheme}`);
        const session = await tenant.createSession({
          allowed_provider_keys: ["acme", "keyed"],
          end_user: { id: "u1", display_name: "Ada Lovelace" },
        });
        await page.goto(session.connect_url);
        // The page that opens the link has the same heading.
        await page.getByRole("link", { name: "Acme acme" }).waitFor();
        await shot("choice");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.getByRole("button", { name: "Continue to Acme acme" }).waitFor();
        await shot("oauth");
        await page.getByRole("link", { name: "Choose another provider" }).click();
        await page.getByRole("link", { name: "Keyed" }).click();
        await page.getByLabel("Workspace").fill("acme");
        await page.getByLabel("API key").fill("refused");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
        await shot("form");
        assert.equal(await page.getByLabel("API key").inputValue(), "", "a secret is not shown again");
        assert.equal(await page.getByLabel("Workspace").inputValue(), "acme");
        const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
        assert.equal(await page.evaluate(isWide), false, `the page is wider than a ${name}`);
        await page.getByRole("button", { name: "Cancel" }).click();
        await page.getByText("You cancelled").waitFor();
        await shot("end");
        await context.close();
      }
    }
    problems.splice(0, problems.length, ...problems.filter((each) => !/status of 422/.test(each)));
  });

  test("no page violates its policy or fails in a script", () => {
    assert.deepEqual(problems, []);
  });
});

/** A provider that accepts every key but one. */
function keyedManifest({ url }: OAuthIssuer): object {
  return {
    ...{ manifest: 1, key: "keyed", version: "1.0.0", name: "Keyed", category: "generic" },
    description: "Accepts keys.",
    docs_url: "https://keyed.example",
    hosts: ["localhost"],
    base_url: url,
    settings: { workspace: { title: "Workspace", pattern: "^[a-z]+$", example: "acme", required: false } },
    auth: {
      api_key: {
        fields: { token: { title: "API key", description: "From the settings of your account." } },
        apply: { headers: { "x-api-key": "{credentials.token}" } },
        account: { method: "GET", path: "/keyed", id: "/id", label: "/id" },
      },
    },
    actions: anyAction,
  };
}

function isPolicyReport(message: { text(): string }): boolean {
  return /frame-ancestors/.test(message.text());
}

/** A page of another site that records the messages that it gets. */
async function startOpener(): Promise<{ readonly origin: string }> {
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><title>Application</title><link rel="icon" href="data:,"><script>
      window.messages = [];
      addEventListener("message", ({ data, origin }) => window.messages.push({ data, origin }));
    </script>`);
  });
  await once(server.listen(0), "listening");
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `http://localhost:${(server.address() as AddressInfo).port}` };
}
