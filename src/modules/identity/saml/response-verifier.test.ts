import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { before, test } from "node:test";
import { fc } from "../../../../test/harness/random.ts";
import {
  createIdpKey,
  encryptAssertion,
  type IdpKey,
  type ResponseParts,
  responseXml,
  type SignatureOptions,
  sign,
} from "../../../../test/identity/saml-builder.ts";
import type { SamlConnection } from "../connections/index.ts";
import { verifyResponse } from "./response-verifier.ts";
import { SamlRefusal } from "./saml-refusal.ts";

const issuer = "https://idp.example/entity";
const recipient = "https://service.example/auth/saml/c/acs";
const audience = "https://service.example/auth/saml/c/metadata";

let idp: IdpKey;
let other: IdpKey;
let service: IdpKey;

before(async () => {
  [idp, other, service] = await Promise.all([createIdpKey(), createIdpKey(), createIdpKey()]);
});

function connection(settings: object = {}): SamlConnection {
  return {
    kind: "saml",
    settings: {
      ...{ idpEntityId: issuer, ssoUrl: "https://idp.example/sso", sloUrl: "", certificates: [idp.certificate] },
      ...{ emailAttribute: "", groupsAttribute: "", nameAttribute: "", allowIdpInitiated: false },
      ...{ requireEncryption: false, ownCertificate: service.certificate },
      ...settings,
    },
  } as unknown as SamlConnection;
}

const unsigned = (parts: Partial<ResponseParts> = {}) => responseXml({ issuer, recipient, audience, ...parts });
const signed = (parts: Partial<ResponseParts> = {}, options: SignatureOptions = {}) =>
  sign(unsigned(parts), "Assertion", idp, options);
const twiceSigned = (parts: Partial<ResponseParts> = {}) => sign(signed(parts), "Response", idp);

async function nameIn(xml: string, settings: object = {}): Promise<string> {
  const self = { entityId: audience, acsUrl: recipient, privateKey: service.privateKey };
  const message = Buffer.from(xml).toString("base64");
  const times = { nowMs: Date.now(), skewMs: 60_000 };
  return (await verifyResponse(connection(settings), self, message, times)).content.nameId;
}

/** Expects the refusal of a message for a reason. */
const refused = (xml: string, message: RegExp, settings: object = {}) =>
  assert.rejects(nameIn(xml, settings), { name: "SamlRefusal", message });

test("a signed assertion is accepted, with and without a signature of the response, and encrypted", async () => {
  for (const xml of [signed(), twiceSigned(), await encryptAssertion(signed(), service.certificate)]) {
    assert.equal(await nameIn(xml), "ada@acme.example");
  }
  const outer = sign(await encryptAssertion(signed(), service.certificate), "Response", idp);
  assert.equal(await nameIn(outer), "ada@acme.example");
  assert.equal(await nameIn(`<?xml version="1.0" encoding="UTF-8"?>\n${signed()}`), "ada@acme.example");
});

test("two certificates are accepted while the identity provider changes its key", async () => {
  const both = { certificates: [other.certificate, idp.certificate] };
  assert.equal(await nameIn(signed(), both), "ada@acme.example");
  assert.equal(await nameIn(sign(unsigned(), "Assertion", other), both), "ada@acme.example");
  await refused(sign(unsigned(), "Assertion", service), /Invalid signature/, both);
});

test("an assertion that is not signed, or signed by somebody else, is refused", async () => {
  await refused(unsigned(), /the assertion is not signed/);
  await refused(sign(unsigned(), "Response", idp), /the assertion is not signed/);
  await refused(sign(unsigned(), "Assertion", other), /Invalid signature/);
  await refused(sign(signed(), "Response", other), /Invalid document signature/);
  const bare = signed().replace(/<SignatureValue>[^<]*/, "<SignatureValue>");
  assert.match(bare, /<SignatureValue><\/SignatureValue>/);
  await refused(bare, /Invalid signature/);
});

test("weak and unusual signatures are refused", async () => {
  const dsig = "http://www.w3.org/2000/09/xmldsig#";
  const c14n = "http://www.w3.org/2001/10/xml-exc-c14n#";
  await refused(signed({}, { signature: `${dsig}rsa-sha1` }), /signature method is not allowed: .*#rsa-sha1/);
  await refused(signed({}, { digest: `${dsig}sha1` }), /digest method is not allowed: .*#sha1/);
  await refused(signed({}, { canonicalization: `${c14n}WithComments` }), /canonicalization is not exclusive/);
  for (const transforms of [[c14n], [`${dsig}enveloped-signature`, `${c14n}WithComments`]]) {
    await refused(signed({}, { transforms }), /a signature has other transforms than the usual two/);
  }
  // A public certificate used as the secret of an HMAC.
  const rsa = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
  const hmac = signed().replaceAll(rsa, `${dsig}hmac-sha1`);
  const info = /<SignedInfo.*<\/SignedInfo>/s.exec(hmac)?.[0] ?? "";
  const value = createHmac("sha1", idp.certificate).update(info).digest("base64");
  await refused(hmac.replace(/<SignatureValue>[^<]*/, `<SignatureValue>${value}`), /not allowed: .*#hmac-sha1/);
});

test("an assertion for another service, request, time or purpose is refused", async () => {
  const unconfirmed = /no confirmation is for this service, this request and now/;
  const cases: [Partial<ResponseParts>, RegExp][] = [
    [{ issuer: "https://evil.example", responseIssuer: issuer }, /the assertion has another issuer/],
    [{ responseIssuer: "https://evil.example" }, /the response has another issuer/],
    [{ audience: "https://other.example" }, /audience mismatch/],
    [{ recipient: "https://other.example/acs", destination: recipient }, unconfirmed],
    [{ destination: "https://other.example/acs" }, /the response has another destination/],
    [{ subjectInResponseTo: "_other" }, unconfirmed],
    [{ subjectInResponseTo: "" }, unconfirmed],
    [{ inResponseTo: "", subjectInResponseTo: "_request" }, unconfirmed],
    [{ notOnOrAfterS: -120 }, /assertion expired/],
    [{ notOnOrAfterS: 3600 * 48 }, unconfirmed],
    [{ notBeforeS: 120 }, /not yet valid/],
    [{ sessionEndsS: -120 }, /the session has ended/],
    [{ statement: "" }, /does not say that somebody signed in/],
    [{ conditions: "" }, /AudienceRestriction/],
    [{ conditions: "<saml:Conditions/>" }, /no AudienceRestriction/],
    [{ nameId: "" }, /the name id is empty/],
    [{ status: "urn:oasis:names:tc:SAML:2.0:status:Responder" }, /did not sign anybody in/],
    [{ confirmationMethod: "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches" }, unconfirmed],
    [{ assertionId: "_same", responseId: "_same" }, /two elements have the same id/],
    [{ assertionId: "1' or '1'='1" }, /the signed element has no valid id/],
  ];
  for (const [parts, reason] of cases) await refused(signed(parts), reason);
  await refused(sign(signed({ destination: "" }), "Response", idp), /the response has another destination/);
  assert.equal(await nameIn(signed({ destination: "" })), "ada@acme.example");
  assert.equal(await nameIn(signed({ notOnOrAfterS: -30 })), "ada@acme.example", "clocks may differ by a minute");
});

test("signature wrapping, all eight kinds, is refused", async () => {
  const good = signed({ nameId: "mallory@acme.example" });
  const [assertion] = /<saml:Assertion .*<\/saml:Assertion>/s.exec(good) as [string];
  const [signature] = /<Signature .*<\/Signature>/s.exec(assertion) as [string];
  const plain = assertion.replace(signature, "");
  const evil = plain.replace(/ID="[^"]*"/, 'ID="_evil"').replaceAll("mallory@", "ada@");
  const within = (inner: string) => good.replace(assertion, () => inner);
  const evilWith = (more: string) => evil.replace("<saml:Subject>", () => `${more}<saml:Subject>`);
  const whole = twiceSigned({ nameId: "mallory@acme.example" });
  const [outer] = [...whole.matchAll(/<Signature .*?<\/Signature>/gs)].map(([text]) => text) as [string];
  const evilWhole = whole
    .replace(outer, "")
    .replaceAll(/ (ID="|URI="#)_/g, " $1_evil")
    .replaceAll("mallory@", "ada@");
  const object = (inner: string) => signature.replace("</Signature>", () => `<Object>${inner}</Object></Signature>`);
  const attacks: Record<string, string> = {
    "1": evilWhole.replace(
      "</saml:Issuer>",
      () => `</saml:Issuer>${outer.replace("</Signature>", () => `${whole.replace(outer, "")}</Signature>`)}`,
    ),
    "2": evilWhole.replace("</saml:Issuer>", () => `</saml:Issuer>${outer}${whole.replace(outer, "")}`),
    "3": within(evil + assertion),
    "4": within(evil.replace("</saml:Assertion>", () => `${assertion}</saml:Assertion>`)),
    "5": within(evilWith(signature) + plain),
    "6": within(evilWith(object(plain))),
    "7": within(`<samlp:Extensions>${evil}</samlp:Extensions>${assertion}`),
    "8": within(evilWith(object(assertion))),
    behind: within(assertion + evil),
    "in a value": within(assertion.replace("</saml:AttributeValue>", () => `${evil}</saml:AttributeValue>`)),
    "same id": within(evil.replace("_evil", /ID="([^"]*)"/.exec(assertion)![1]!) + assertion),
    "other namespace": within(
      evil.replace("<saml:Assertion ", '<x:Assertion xmlns:x="urn:x" ').replace("</saml:Assertion>", "</x:Assertion>") +
        assertion,
    ),
    "lower-case id": within(
      assertion.replace(
        "<saml:Subject>",
        () => `<saml:Advice id="${/ID="([^"]*)"/.exec(assertion)![1]}"/><saml:Subject>`,
      ),
    ),
  };
  for (const [kind, xml] of Object.entries(attacks)) {
    const isSameId = kind.endsWith(" id");
    await refused(xml, isSameId ? /two elements have the same id/ : /the response must have exactly one assertion/);
  }
  assert.equal(await nameIn(good), "mallory@acme.example", "the assertion itself is valid");
});

test("comments, entities, document types and other tricks of parsers are refused", async () => {
  const forbidden: Record<string, string> = {
    "a comment in the name id": signed({ nameId: "ada@acme.example.evil.example" }).replace(
      "ada@acme.example.evil",
      "ada@acme.example<!---->.evil",
    ),
    "a comment that was signed": signed({ nameId: "ada@acme.example<!-- x -->.evil.example" }),
    "a CDATA section": signed({ nameId: "<![CDATA[ada@acme.example]]>" }),
    "an instruction": signed().replace("<saml:Subject>", "<?x y?><saml:Subject>"),
    "a document type": `<!DOCTYPE Response>${signed()}`,
    "an entity": `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>${signed({ nameId: "x" }).replace(">x<", ">&e;<")}`,
    "many entities": `<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>${signed()}`,
    "another encoding": `<?xml version="1.0" encoding="UTF-16"?>${signed()}`,
  };
  for (const xml of Object.values(forbidden)) {
    await refused(xml, /a document type, a comment, a CDATA section or an instruction/);
  }
  await refused(signed().replace("ada@acme.example<", "&evil;<"), /the message has an entity/);
  await refused(signed({ nameId: "ada@acme.example<x/>" }), /NameID must have only text/);
  await refused(signed().replace("<saml:Subject>", "\u0001<saml:Subject>"), /invalid characters/);
  await refused(`${signed()}<x/>`, /not well-formed: .*Only one element/);
  await refused("hello", /not well-formed/);
  await refused(unsigned({ groups: Array.from({ length: 3000 }, () => "g".repeat(80)) }), /too large/);
  await refused(signed({ groups: Array.from({ length: 1100 }, () => "g") }), /too many attributes/);
  await refused(signed({ statement: `${"<x>".repeat(80)}${"</x>".repeat(80)}` }), /nested too deeply/);
  const self = { entityId: audience, acsUrl: recipient, privateKey: service.privateKey };
  for (const message of ["", "%%%", "A", "=".repeat(8)]) {
    const times = { nowMs: Date.now(), skewMs: 0 };
    await assert.rejects(verifyResponse(connection(), self, message, times), /the message is not base64/);
  }
});

test("a message that would keep the XML parser busy is refused before it is parsed", async () => {
  const many = (count: number, part: (nth: number) => string) =>
    Array.from({ length: count }, (_, nth) => part(nth)).join("");
  // After the parser, the message would also have the parser's fault.
  const notWellFormed = /^the message is not well-formed$/;
  await refused(`<r${many(10_000, (nth) => ` a${nth}=""`)}/>`, /too many attributes/);
  await refused(`<r${many(5000, (nth) => ` xmlns:n${nth}="u"`)}/>`, /too many attributes/);
  await refused(`<r>${"<a/>".repeat(20_000)}</r>`, /too many tags/);
  await refused("<a>".repeat(32_000), /nested too deeply/);
  await refused("</a>".repeat(20_000), notWellFormed);
  await refused(`<r ${'a="'.repeat(30_000)}`, notWellFormed);
});

test("weak or foreign encryption is refused, and plain assertions where encryption is required", async () => {
  const cbc = { data: "http://www.w3.org/2001/04/xmlenc#aes256-cbc" };
  await refused(await encryptAssertion(signed(), service.certificate, cbc), /cipher is not allowed: .*-cbc/);
  const pkcs1 = { key: "http://www.w3.org/2001/04/xmlenc#rsa-1_5" };
  await refused(
    await encryptAssertion(signed(), service.certificate, pkcs1),
    /key transport is not allowed: .*rsa-1_5/,
  );
  await refused(await encryptAssertion(signed(), other.certificate), /cannot be decrypted/);
  const bare = await encryptAssertion(unsigned(), service.certificate);
  for (const xml of [bare, sign(bare, "Response", idp)]) await refused(xml, /the assertion is not signed/);
  const required = { requireEncryption: true };
  await refused(signed(), /the assertion is not encrypted/, required);
  assert.equal(await nameIn(await encryptAssertion(signed(), service.certificate), required), "ada@acme.example");
  const broken = (await encryptAssertion(signed(), service.certificate)).replace(/(CipherValue>[^<]{600})./, "$1A");
  await refused(broken, /cannot be decrypted/);
});

test("500 mutated responses are refused", async () => {
  const good = twiceSigned();
  assert.equal(await nameIn(good), "ada@acme.example");
  // The last characters of base64 carry bits that are not decoded.
  const isFree = (at: number) => !/^.{0,3}={0,2}<\/(?:SignatureValue|DigestValue)>/s.test(good.slice(at, at + 30));
  const letters = [...good.matchAll(/[A-Za-z0-9]/g)].map(({ index }) => index).filter(isFree);
  const names = [
    "Issuer",
    "Status",
    "Assertion",
    "Subject",
    "NameID",
    "SubjectConfirmation",
    "Conditions",
    "AudienceRestriction",
  ];
  const more = ["Audience", "AuthnStatement", "AuthnContext", "AttributeStatement", "Attribute", "AttributeValue"];
  const elements = [...names, ...more].map(
    (name) => new RegExp(`<samlp?:${name}[ >].*?</samlp?:${name}>`, "s").exec(good)![0],
  );
  const replaceLetter = fc
    .tuple(fc.constantFrom(...letters), fc.constantFrom(..."AZaz09qK"))
    .filter(([at, letter]) => good[at] !== letter)
    .map(([at, letter]) => good.slice(0, at) + letter + good.slice(at + 1));
  const dropLetter = fc.constantFrom(...letters).map((at) => good.slice(0, at) + good.slice(at + 1));
  const dropElement = fc.constantFrom(...elements).map((element) => good.replace(element, ""));
  const repeatElement = fc.constantFrom(...elements).map((element) => good.replace(element, () => element + element));
  const swapElements = fc
    .tuple(fc.constantFrom(...elements), fc.constantFrom(...elements))
    .filter(([a, b]) => a !== b && !a.includes(b) && !b.includes(a))
    .map(([a, b]) =>
      good
        .replace(a, "\u0000")
        .replace(b, () => a)
        .replace("\u0000", () => b),
    );
  const dropTail = fc.constantFrom(...letters).map((at) => good.slice(0, at));
  const insert = fc
    .tuple(fc.constantFrom(...elements), fc.constantFrom("<x/>", "x", "<saml:Audience>y</saml:Audience>", "<!-- -->"))
    .map(([element, added]) => good.replace(element, () => added + element));
  const mutated = fc.oneof(replaceLetter, dropLetter, dropElement, repeatElement, swapElements, dropTail, insert);
  await fc.assert(
    fc.asyncProperty(mutated, async (xml) => {
      fc.pre(xml !== good);
      await assert.rejects(nameIn(xml), SamlRefusal);
    }),
    { numRuns: 500 },
  );
});
