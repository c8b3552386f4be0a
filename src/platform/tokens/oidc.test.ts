import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { failsWith } from "../../../test/harness/context.ts";
import { until } from "../../../test/harness/until.ts";
import { createOidcVerifier } from "./index.ts";

const audience = "switchyard";
const unavailable = failsWith("UNAVAILABLE", /issuer is unavailable/);

/** An issuer whose responses are chosen by the test. */
async function scratch(t: TestContext, { keysMaxAgeMs = 600_000 } = {}) {
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
    verifier: createOidcVerifier({ issuers: [issuer], audiences: [audience], keysMaxAgeMs }),
    /** Publishes a key and returns a function that signs tokens with it. */
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

test("keys are fetched once, regardless of how many tokens are verified", async (t) => {
  const { verifier, state, publish } = await scratch(t);
  const sign = await publish("k1");
  const token = await sign();
  await Promise.all(Array.from({ length: 20 }, () => verifier.verify(token)));
  assert.equal((await verifier.verify(token)).sub, "ada");
  assert.equal(state.asked, 1);
});

test("the first issuer cannot name people of another one, and people of both with one subject are two", async (t) => {
  const [one, two] = [await scratch(t), await scratch(t)];
  const verifier = createOidcVerifier({ issuers: [one.issuer, two.issuer], audiences: [audience] });
  const [signOne, signTwo] = [await one.publish("k1"), await two.publish("k1")];
  assert.equal((await verifier.verify(await signOne())).sub, "ada");
  assert.equal((await verifier.verify(await signTwo())).sub, `${two.issuer}|ada`);
  const forged = await signOne({ sub: `${two.issuer}|ada` });
  await assert.rejects(verifier.verify(forged), failsWith("UNAUTHENTICATED", /not valid/));
});

test("a discovery document that names another issuer is not trusted", async (t) => {
  const { verifier, state, publish } = await scratch(t);
  const token = await (await publish("k1"))();
  state.discovery = "other name";
  await assert.rejects(verifier.verify(token), unavailable);
  state.discovery = "well";
  assert.ok(await verifier.verify(token));
});

for (const answer of ["500", "text", "cut"] as const) {
  test(`an issuer outage (${answer}) is UNAVAILABLE, and cached keys stay valid regardless of their age`, async (t) => {
    const { issuer, verifier, state, publish } = await scratch(t, { keysMaxAgeMs: 1 });
    const sign = await publish("k1");
    assert.ok(await verifier.verify(await sign()));
    state.answer = answer;
    await assert.rejects(
      createOidcVerifier({ issuers: [issuer], audiences: [audience] }).verify(await sign()),
      unavailable,
    );
    // Cached keys are used without contacting the issuer at every call.
    const askedBefore = state.asked;
    for (let n = 0; n < 10; n++) assert.ok(await verifier.verify(await sign()));
    assert.ok(state.asked - askedBefore <= 1);
    // An invalid token is still rejected, and an unknown key id is UNAVAILABLE, because only the issuer can decide it.
    await assert.rejects(verifier.verify(await sign({ aud: "other" })), failsWith("UNAUTHENTICATED"));
    await assert.rejects(verifier.verify(await sign({ exp: 1 })), failsWith("UNAUTHENTICATED", /expired/));
    const unknown = await (await publish("k2"))();
    await assert.rejects(verifier.verify(unknown), unavailable);
  });
}

test("forged key ids cause one request to the issuer every few seconds at most, and do not block valid tokens", async (t) => {
  const { verifier, state, publish } = await scratch(t);
  const good = await (await publish("k1"))();
  await verifier.verify(good);
  const forged = await (await publish("forged", { published: false }))();
  for (let n = 0; n < 50; n++) await assert.rejects(verifier.verify(forged), failsWith("UNAUTHENTICATED"));
  assert.ok(state.asked <= 2, `asked ${state.asked} times`);
  assert.ok(await verifier.verify(good));
  // A key published meanwhile is found as soon as the cooldown is over.
  const rotated = await (await publish("k2"))();
  await until(() => verifier.verify(rotated).then(Boolean, () => false));
});

test("any malformed token is rejected as UNAUTHENTICATED", async (t) => {
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

test("a token must have an expiry and a subject", async (t) => {
  const { verifier, publish } = await scratch(t);
  const sign = await publish("k1");
  for (const claim of ["exp", "sub"]) {
    await assert.rejects(verifier.verify(await sign({ [claim]: undefined })), failsWith("UNAUTHENTICATED"));
  }
});

test("only RS256, ES256 and EdDSA are accepted, even if the issuer publishes keys for other algorithms", async (t) => {
  const { verifier, publish } = await scratch(t);
  const sign = new Map<string, Awaited<ReturnType<typeof publish>>>();
  for (const alg of ["RS256", "ES256", "EdDSA", "RS512", "PS256", "ES384"]) sign.set(alg, await publish(alg, { alg }));
  for (const alg of ["RS256", "ES256", "EdDSA"]) assert.ok(await verifier.verify(await sign.get(alg)!()), alg);
  for (const alg of ["RS512", "PS256", "ES384"]) {
    await assert.rejects(verifier.verify(await sign.get(alg)!()), failsWith("UNAUTHENTICATED"), alg);
  }
});
