import assert from "node:assert/strict";
import { createSign } from "node:crypto";
import { before, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { createIdpKey, type IdpKey } from "../../../../test/identity/saml-builder.ts";
import type { SamlConnection } from "../connections/index.ts";
import { readSignOutRequest } from "./sign-out-message.ts";

const issuer = "https://idp.example/entity";
const destination = "https://service.example/auth/saml/c/slo";
const sha256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
let idp: IdpKey;
let other: IdpKey;

before(async () => {
  [idp, other] = await Promise.all([createIdpKey(), createIdpKey()]);
});

function queryOf(
  changes: { issuer?: string; destination?: string; ageS?: number; key?: string; algorithm?: string } = {},
): string {
  const issued = new Date(Date.now() - (changes.ageS ?? 0) * 1000).toISOString();
  const xml = `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_l1" Version="2.0" IssueInstant="${issued}" Destination="${changes.destination ?? destination}"><saml:Issuer>${changes.issuer ?? issuer}</saml:Issuer><saml:NameID>ada@acme.example</saml:NameID><samlp:SessionIndex>_s1</samlp:SessionIndex></samlp:LogoutRequest>`;
  const message = encodeURIComponent(deflateRawSync(xml).toString("base64"));
  const signed = `SAMLRequest=${message}&RelayState=r&SigAlg=${encodeURIComponent(changes.algorithm ?? sha256)}`;
  const signature = createSign("RSA-SHA256")
    .update(signed)
    .sign(changes.key ?? idp.privateKey, "base64");
  return `${signed}&Signature=${encodeURIComponent(signature)}`;
}

const read = (query: string) => {
  const connection = {
    settings: { idpEntityId: issuer, certificates: [idp.certificate] },
  } as unknown as SamlConnection;
  return readSignOutRequest(connection, query, destination, { nowMs: Date.now(), skewMs: 60_000 });
};

test("a signed request to sign out names the person and the session", async () => {
  const { id, nameId, sessionIndex } = await read(queryOf());
  assert.deepEqual([id, nameId, sessionIndex], ["_l1", "ada@acme.example", "_s1"]);
});

test("a request to sign out that is not signed, altered, old or for another service is refused", async () => {
  const good = queryOf();
  const cases: [query: string, reason: string][] = [
    [good.replace(/&Signature=.*/, ""), "the request is not signed"],
    [good.replace(/&Signature=.*/, "&Signature="), "the message is not base64"],
    [good.replace("RelayState=r", "RelayState=x"), "the signature is not valid"],
    [good.replace("&RelayState=r", ""), "the signature is not valid"],
    [`${good}&SAMLRequest=x`, "a parameter was sent twice"],
    [queryOf({ key: other.privateKey }), "the signature is not valid"],
    [queryOf({ algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" }), "the signature method is not allowed"],
    [queryOf({ issuer: "https://evil.example" }), "the request has another issuer"],
    [queryOf({ destination: "https://other.example" }), "the request has another destination"],
    [queryOf({ ageS: 3600 }), "the request is too old"],
    ["", "the request is not signed"],
  ];
  for (const [query, message] of cases) await assert.rejects(read(query), { name: "SamlRefusal", message });
});
