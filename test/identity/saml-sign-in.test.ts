import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { type BrowserResponse, PlainBrowser } from "./plain-browser.ts";
import { createIdpKey, encryptAssertion, type IdpKey, type ResponseParts, responseXml, sign } from "./saml-builder.ts";

const foreign = { "sec-fetch-site": "cross-site", origin: "null" };

describe("sign-in with SAML", () => {
  const issuer = "https://idp.example/entity";
  let first: TestService;
  let second: TestService;
  let idp: IdpKey;
  let rest: ReturnType<typeof restClient>;
  let connection: { id: string; sign_in_url: string; callback_url: string; metadata_url: string };

  before(async () => {
    idp = await createIdpKey();
    // Both nodes have the same address for browsers, as behind a load balancer.
    const named = { "server.client_address_header": "X-Forwarded-For" };
    first = await startService({ "identity.saml.enabled": "true", ...named });
    const shared = { "auth.bootstrap_api_key": first.adminKey, "api.public_url": first.baseUrl };
    second = await startService({ "identity.saml.enabled": "true", ...shared }, first.databaseUrl);
    rest = restClient(first.baseUrl, first.adminKey);
    const created = await rest.call("POST", "/api/v2/identity/connections", {
      name: "IdP",
      just_in_time: true,
      default_roles: ["viewer"],
      saml: { idp_entity_id: issuer, sso_url: "https://idp.example/sso", certificates: [idp.certificate] },
    });
    assert.equal(created.status, 200, created.text);
    connection = created.body.data;
  });

  const update = (change: object) => rest.call("PATCH", `/api/v2/identity/connections/${connection.id}`, change);

  /** Starts a sign-in; returns the id of the request. */
  async function start(browser: PlainBrowser): Promise<string> {
    const response = await browser.send("GET", connection.sign_in_url);
    const location = new URL(response.headers.location!);
    assert.equal(location.origin + location.pathname, "https://idp.example/sso");
    assert.equal(location.searchParams.get("SigAlg"), "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
    const xml = inflateRawSync(Buffer.from(location.searchParams.get("SAMLRequest")!, "base64")).toString();
    return /ID="([^"]+)"/.exec(xml)![1]!;
  }

  const message = (parts: Partial<ResponseParts>, key = idp) =>
    sign(
      responseXml({ issuer, recipient: connection.callback_url, audience: connection.metadata_url, ...parts }),
      "Assertion",
      key,
    );

  /** Sends a response as the page of the identity provider does: from another site, without cookies. */
  const post = (xml: string, service = first): Promise<BrowserResponse> =>
    new PlainBrowser().send("POST", connection.callback_url.replace(first.baseUrl, service.baseUrl), {
      form: { SAMLResponse: Buffer.from(xml).toString("base64") },
      headers: foreign,
    });

  const finish = (browser: PlainBrowser, { headers }: BrowserResponse) =>
    browser.send("GET", first.baseUrl + headers.location!, { headers: { "sec-fetch-site": "cross-site" } });

  async function signIn(browser: PlainBrowser, parts: Partial<ResponseParts> = {}): Promise<BrowserResponse> {
    return finish(browser, await post(message({ inResponseTo: await start(browser), ...parts })));
  }

  const me = async (browser: PlainBrowser) =>
    (await browser.send("GET", `${first.baseUrl}/api/v2/identity/session`)).json().data;

  test("the metadata name the service, its address and its key", async () => {
    const { body, headers } = await new PlainBrowser().send("GET", connection.metadata_url);
    assert.match(String(headers["content-type"]), /samlmetadata\+xml/);
    assert.ok(
      body.includes(`entityID="${connection.metadata_url}"`) && body.includes(`Location="${connection.callback_url}"`),
    );
    assert.match(body, /WantAssertionsSigned="true".*<ds:X509Certificate>MII/s);
  });

  test("guesses never lock out a sign-in from the same address, and are limited by the client's address", async () => {
    const browser = new PlainBrowser();
    const guess = (client: string) =>
      browser.send("GET", `${first.baseUrl}/auth/saml/finish?ticket=guess`, { headers: { "x-forwarded-for": client } });
    const forge = () => browser.send("POST", connection.callback_url, { form: { SAMLResponse: "Z3Vlc3M=" } });
    let limited = 0;
    for (let nth = 0; nth < 30; nth++) {
      if ((await guess("")).status === 429) limited++;
      if ((await forge()).status === 429) limited++;
    }
    assert.ok(limited > 0, "guesses are limited");
    assert.equal((await guess("203.0.113.7")).status, 400, "another client behind the proxy is not limited");
    const form = { SAMLResponse: Buffer.from(message({ inResponseTo: await start(browser) })).toString("base64") };
    const accepted = await browser.send("POST", connection.callback_url, { form, headers: foreign });
    assert.equal(accepted.status, 303, accepted.body);
    const headers = { "sec-fetch-site": "cross-site", "x-forwarded-for": "198.51.100.1, 203.0.113.8" };
    const done = await browser.send("GET", first.baseUrl + accepted.headers.location!, { headers });
    assert.equal(done.status, 303, done.body);
    assert.equal((await me(browser)).session.address, "203.0.113.8");
  });

  test("a person signs in, becomes a member just in time, and has the roles of the groups", async () => {
    await rest.call("PUT", "/api/v2/identity/group-roles", { group: "Operators", roles: ["operator"] });
    const browser = new PlainBrowser();
    const done = await signIn(browser, { groups: ["Operators"] });
    assert.deepEqual([done.status, done.headers.location], [303, "/console"]);
    const caller = await me(browser);
    assert.deepEqual([caller.kind, caller.roles, caller.session.method], ["user", ["viewer", "operator"], "saml"]);
    const again = new PlainBrowser();
    await signIn(again);
    assert.equal((await me(again)).subject, caller.subject, "the same person at the next sign-in");
  });

  test("the identity provider limits the session, and an encrypted assertion is accepted", async () => {
    const browser = new PlainBrowser();
    await signIn(browser, { sessionEndsS: 600 });
    const { session } = await me(browser);
    const lengthS = (Date.parse(session.expires_at) - Date.parse(session.created_at)) / 1000;
    assert.ok(lengthS > 500 && lengthS <= 600);
    const { body } = await new PlainBrowser().send("GET", connection.metadata_url);
    const certificate = /X509Certificate>([^<]+)/.exec(body)![1]!.replace(/.{64}/g, "$&\n");
    const pem = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`;
    const other = new PlainBrowser();
    const inResponseTo = await start(other);
    assert.equal((await finish(other, await post(await encryptAssertion(message({ inResponseTo }), pem)))).status, 303);
  });

  test("replay: a response is accepted once, on whichever node, and its ticket once", async () => {
    const browser = new PlainBrowser();
    const xml = message({ inResponseTo: await start(browser) });
    const answers = await Promise.all([post(xml), post(xml, second), post(xml), post(xml, second)]);
    const accepted = answers.filter(({ status }) => status === 303);
    assert.equal(accepted.length, 1, "of concurrent ones, too");
    assert.equal((await post(xml, second)).status, 400);
    assert.equal((await finish(browser, accepted[0]!)).status, 303);
    assert.equal((await finish(browser, accepted[0]!)).status, 400);
    // The same assertion in answer to another request of the same browser.
    const other = new PlainBrowser();
    const id = await start(other);
    assert.notEqual((await post(xml.replaceAll(/InResponseTo="[^"]*"/g, `InResponseTo="${id}"`))).status, 303);
    const assertionId = "_fixed";
    await signIn(new PlainBrowser(), { assertionId });
    const repeated = new PlainBrowser();
    const response = await post(message({ assertionId, inResponseTo: await start(repeated) }), second);
    assert.equal(response.status, 400, "an id of an assertion is accepted once");
  });

  test("login CSRF: another browser cannot finish a sign-in", async () => {
    const attacker = new PlainBrowser();
    const accepted = await post(message({ inResponseTo: await start(attacker) }));
    const victim = new PlainBrowser();
    for (const started of [false, true]) {
      if (started) await start(victim);
      const response = await finish(victim, accepted);
      assert.deepEqual([response.status, response.headers["set-cookie"]], [403, undefined]);
    }
    assert.equal((await finish(attacker, accepted)).status, 303);
  });

  test("a response that nobody asked for is refused, unless the connection allows it, and then a person must confirm", async () => {
    const unasked = { inResponseTo: "", subjectInResponseTo: "" };
    assert.equal((await post(message(unasked))).status, 403);
    assert.equal((await post(message({ inResponseTo: "_never" }))).status, 400);
    const saml = { idp_entity_id: issuer, sso_url: "https://idp.example/sso", certificates: [idp.certificate] };
    await update({ saml: { ...saml, allow_idp_initiated: true } });
    const accepted = await post(message(unasked));
    const browser = new PlainBrowser();
    const page = await finish(browser, accepted);
    assert.deepEqual([page.status, page.headers["set-cookie"]], [200, undefined]);
    assert.match(page.body, /Sign in as <strong>ada@acme\.example/);
    const form = { ticket: browser.hidden(page, "ticket") };
    const forged = await browser.send("POST", `${first.baseUrl}/auth/saml/finish`, { form, headers: foreign });
    assert.equal(forged.status, 403);
    assert.equal((await browser.send("POST", `${first.baseUrl}/auth/saml/finish`, { form })).status, 303);
    await update({ saml });
    assert.equal((await post(message(unasked))).status, 403);
  });

  test("responses of one connection are refused by another, and of another identity provider by this one", async () => {
    const browser = new PlainBrowser();
    const inResponseTo = await start(browser);
    assert.equal((await post(message({ inResponseTo }, await createIdpKey()))).status, 403);
    const other = await rest.call("POST", "/api/v2/identity/connections", {
      name: "Other",
      saml: { idp_entity_id: issuer, sso_url: "https://idp.example/sso", certificates: [idp.certificate] },
    });
    const response = await new PlainBrowser().send("POST", other.body.data.callback_url, {
      form: { SAMLResponse: Buffer.from(message({ inResponseTo })).toString("base64") },
    });
    assert.equal(response.status, 403);
    assert.equal(
      (await finish(browser, await post(message({ inResponseTo })))).status,
      303,
      "nothing was spent by them",
    );
  });

  test("certificates that cannot be used, and weak ones, are refused", async () => {
    for (const certificates of [["nonsense"], [idp.certificate, "x"]]) {
      const { status } = await update({
        saml: { idp_entity_id: issuer, sso_url: "https://idp.example/sso", certificates },
      });
      assert.equal(status, 400);
    }
    const sql = connect(first.databaseUrl, 1);
    const [row] = await sql<
      { ciphertext: string }[]
    >`select ciphertext from sso_connections where id = ${connection.id}`;
    await sql.end();
    assert.match(row!.ciphertext, /^xc1:/, "the private key is sealed");
  });

  test("SAML is off unless it is enabled", async () => {
    const off = await startService();
    const { status } = await restClient(off.baseUrl, off.adminKey).call("POST", "/api/v2/identity/connections", {
      name: "IdP",
      saml: { idp_entity_id: issuer, sso_url: "https://idp.example/sso", certificates: [idp.certificate] },
    });
    assert.equal(status, 412);
  });
});
