import assert from "node:assert/strict";
import { test } from "node:test";
import { SignJWT } from "jose";
import { failsWith } from "../../../test/harness/context.ts";
import { serviceTokenAudience, signServiceToken, verifyServiceToken } from "./index.ts";

const secret = "a secret of more than 32 characters";
const nowS = () => Math.floor(Date.now() / 1000);

/** A valid token, with the changes of the test applied. */
function token(claims: Record<string, unknown>, { alg = "HS256", key = secret } = {}): Promise<string> {
  const good = { iss: "billing", aud: serviceTokenAudience, sub: "billing", tenant_id: "t", exp: nowS() + 60 };
  return new SignJWT(JSON.parse(JSON.stringify({ ...good, ...claims })))
    .setProtectedHeader({ alg })
    .sign(new TextEncoder().encode(key));
}

test("a signed token is valid, and contains its caller and tenant", async () => {
  const signed = await signServiceToken({ issuer: "billing", subject: "invoices", tenantId: "t1" }, secret);
  const claims = await verifyServiceToken(signed, secret);
  assert.deepEqual([claims.iss, claims.sub, claims.tenant_id], ["billing", "invoices", "t1"]);
});

const refused: [why: string, make: () => Promise<string>][] = [
  ["without an issuer", () => token({ iss: undefined })],
  ["without a subject", () => token({ sub: undefined })],
  ["without a tenant", () => token({ tenant_id: undefined })],
  ["whose tenant is no text", () => token({ tenant_id: 7 })],
  ["without an end", () => token({ exp: undefined })],
  ["that has ended", () => token({ exp: nowS() - 10 })],
  ["that lives longer than five minutes", () => token({ exp: nowS() + 330 })],
  ["that is not good yet", () => token({ nbf: nowS() + 60 })],
  ["for another audience", () => token({ aud: "service.external" })],
  ["without an audience", () => token({ aud: undefined })],
  ["under another secret", () => token({}, { key: "another secret of more than 32 characters" })],
  ["under another algorithm", () => token({}, { alg: "HS512", key: secret.repeat(3) })],
  ["that is no token", async () => "sk_test_a_bcdefgh"],
  ["without a signature", async () => `${(await token({})).split(".").slice(0, 2).join(".")}.`],
  [
    "whose header says that there is no signature",
    async () => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${(await token({})).split(".")[1]}.`,
  ],
];

for (const [why, make] of refused) {
  test(`a token ${why} is refused`, async () => {
    await assert.rejects(
      verifyServiceToken(await make(), secret),
      failsWith("UNAUTHENTICATED", /not valid for this service/),
    );
  });
}
