import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { failsWith } from "../../../test/harness/context.ts";
import { until } from "../../../test/harness/embedded-owner.ts";
import { createOidcVerifier } from "./index.ts";

const audience = "switchyard";
const unavailable = failsWith("UNAVAILABLE", /issuer does not answer/);

/** An issuer whose answers the test chooses. */
async function scratch(t: TestContext, { keysFreshMs = 600_000 } = {}) {
  const keys: JWK[] = [];
  const state = {
    asked: 0,
    discovery: "well" as "well" | "other name",
    answer: "well" as "well" | "500" | "text" | "cut",
  };
  const server = http.createServer((request, response) => {
    if (request.url === "/.well-known/openid-configuration") {
      response.end(
        JSON.stringify({ issuer: state.discovery === "well" ? issuer : `${issuer}/other`, jwks_uri: `${issuer}/keys` }),
      );
      return;
    }
    state.asked++;
    if (state.answer === "cut") request.socket.destroy();
    else if (state.answer === "text") response.end("<html>");
    else if (state.answer === "500") response.writeHead(500).end();
    else response.end(JSON.stringify({ keys }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    state,
    verifier: createOidcVerifier({ issuer, audience, keysFreshMs }),
    /** Adds a key and answers with tokens under it. */
    async publish(kid: string, { published = true, alg = "ES256" } = {}) {
      const { publicKey, privateKey } = await generateKeyPair(alg);
      if (published) keys.push({ ...(await exportJWK(publicKey)), kid, alg });
      return (claims: Record<string, unknown> = {}) =>
        new SignJWT({ iss: issuer, aud: audience, sub: "ada", exp: Math.floor(Date.now() / 1000) + 60, ...claims })
          .setProtectedHeader({ alg, kid })
          .sign(privateKey);
    },
  };
}

test("keys are asked for once, however many tokens are checked", async (t) => {
  const { verifier, state, publish } = await scratch(t);
  const sign = await publish("k1");
  const token = await sign();
  await Promise.all(Array.from({ length: 20 }, () => verifier.verify(token)));
  assert.equal((await verifier.verify(token)).sub, "ada");
  assert.equal(state.asked, 1);
});

test("an issuer that calls itself something else is not trusted", async (t) => {
  const { verifier, state, publish } = await scratch(t);
  const token = await (await publish("k1"))();
  state.discovery = "other name";
  await assert.rejects(verifier.verify(token), unavailable);
  state.discovery = "well";
  assert.ok(await verifier.verify(token));
});

for (const answer of ["500", "text", "cut"] as const) {
  test(`an issuer that fails (${answer}) is no fault of the caller, and its last keys still count however old they are`, async (t) => {
    const { issuer, verifier, state, publish } = await scratch(t, { keysFreshMs: 1 });
    const sign = await publish("k1");
    assert.ok(await verifier.verify(await sign()));
    state.answer = answer;
    await assert.rejects(createOidcVerifier({ issuer, audience }).verify(await sign()), unavailable);
    // Known keys count, and do so without asking at every call.
    const askedBefore = state.asked;
    for (let n = 0; n < 10; n++) assert.ok(await verifier.verify(await sign()));
    assert.ok(state.asked - askedBefore <= 1);
    // What is wrong with a token is still seen, and what only the issuer can tell is not blamed on the token.
    await assert.rejects(verifier.verify(await sign({ aud: "other" })), failsWith("UNAUTHENTICATED"));
    await assert.rejects(verifier.verify(await sign({ exp: 1 })), failsWith("UNAUTHENTICATED", /expired/));
    const unknown = await (await publish("k2"))();
    await assert.rejects(verifier.verify(unknown), unavailable);
  });
}

test("a forger who names unknown keys has the issuer asked every few seconds at most, and keeps nobody out", async (t) => {
  const { verifier, state, publish } = await scratch(t);
  const good = await (await publish("k1"))();
  await verifier.verify(good);
  const forged = await (await publish("forged", { published: false }))();
  for (let n = 0; n < 50; n++) await assert.rejects(verifier.verify(forged), failsWith("UNAUTHENTICATED"));
  assert.ok(state.asked <= 2, `asked ${state.asked} times`);
  assert.ok(await verifier.verify(good));
  // And a key that is published meanwhile is found as soon as the issuer may be asked again.
  const rotated = await (await publish("k2"))();
  await until(() => verifier.verify(rotated).then(Boolean, () => false));
});

test("a text that is no token, in whatever way, is a fault of the caller", async (t) => {
  const { verifier, publish } = await scratch(t);
  const sign = await publish("k1");
  await verifier.verify(await sign());
  const [header, payload, signature] = (await sign()).split(".");
  const texts = [
    "",
    "a",
    "a.b.c",
    "..",
    `${header}.${payload}.`,
    `${header}.e30.${signature}`,
    `${header}..${signature}`,
  ];
  const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  texts.push(
    `${json({ alg: "ES256", kid: "k1", crit: ["x"], x: 1 })}.${payload}.${signature}`,
    `${json({ alg: "RS256", kid: "k1" })}.${payload}.${signature}`,
    `${json({ alg: "EdDSA", kid: "k1" })}.${payload}.${signature}`,
    `${json({ alg: "none" })}.${payload}.`,
    `${json("ES256")}.${payload}.${signature}`,
    `${header}.${json("text")}.${signature}`,
  );
  for (const text of texts) await assert.rejects(verifier.verify(text), failsWith("UNAUTHENTICATED"), text);
});

test("a token must have an end and a subject", async (t) => {
  const { verifier, publish } = await scratch(t);
  const sign = await publish("k1");
  for (const claim of ["exp", "sub"]) {
    await assert.rejects(verifier.verify(await sign({ [claim]: undefined })), failsWith("UNAUTHENTICATED"));
  }
});

test("tokens are signed with RS256, ES256 or EdDSA, and with nothing else even when the issuer publishes it", async (t) => {
  const { verifier, publish } = await scratch(t);
  const sign = new Map<string, Awaited<ReturnType<typeof publish>>>();
  for (const alg of ["RS256", "ES256", "EdDSA", "RS512", "PS256", "ES384"]) sign.set(alg, await publish(alg, { alg }));
  for (const alg of ["RS256", "ES256", "EdDSA"]) assert.ok(await verifier.verify(await sign.get(alg)!()), alg);
  for (const alg of ["RS512", "PS256", "ES384"]) {
    await assert.rejects(verifier.verify(await sign.get(alg)!()), failsWith("UNAUTHENTICATED"), alg);
  }
});
