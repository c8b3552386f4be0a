import { createRequire } from "node:module";
import { createKeyPair } from "../../src/modules/identity/connections/key-pair.ts";

// The types of these packages include those of browsers.
const load = createRequire(import.meta.url);
const { SignedXml } = load("xml-crypto") as {
  SignedXml: new (
    options: object,
  ) => {
    addReference(reference: object): void;
    computeSignature(xml: string, options: object): void;
    getSignedXml(): string;
  };
};
const { encrypt } = load("xml-encryption") as {
  encrypt: (xml: string, options: object, callback: (error: Error | null, result: string) => void) => void;
};

/** A key of an identity provider, with its certificate. */
export type IdpKey = Awaited<ReturnType<typeof createKeyPair>>;

/** Creates a key of an identity provider. */
export const createIdpKey = (): Promise<IdpKey> => createKeyPair("idp");

/** The parts of a response that tests change. */
export interface ResponseParts {
  readonly issuer: string;
  readonly responseIssuer: string;
  readonly destination: string;
  readonly recipient: string;
  readonly audience: string;
  /** Empty for none. */
  readonly inResponseTo: string;
  readonly subjectInResponseTo: string;
  readonly nameId: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly assertionId: string;
  readonly responseId: string;
  readonly notBeforeS: number;
  readonly notOnOrAfterS: number;
  readonly sessionEndsS: number | undefined;
  readonly status: string;
  readonly statement: string;
  readonly conditions: string | undefined;
  readonly confirmationMethod: string;
}

let turn = 0;

/** The response to a request, before it is signed. */
export function responseXml(
  given: Partial<ResponseParts> & Pick<ResponseParts, "issuer" | "recipient" | "audience">,
): string {
  const number = ++turn;
  const parts: ResponseParts = {
    ...{ responseIssuer: given.issuer, destination: given.recipient, inResponseTo: "_request" },
    subjectInResponseTo: given.inResponseTo ?? "_request",
    ...{ nameId: "ada@acme.example", email: "ada@acme.example", groups: [] },
    ...{
      assertionId: `_a${number}`,
      responseId: `_r${number}`,
      notBeforeS: -10,
      notOnOrAfterS: 300,
      sessionEndsS: undefined,
    },
    status: "urn:oasis:names:tc:SAML:2.0:status:Success",
    statement: "present",
    conditions: undefined,
    confirmationMethod: "urn:oasis:names:tc:SAML:2.0:cm:bearer",
    ...given,
  };
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  const optional = (name: string, value: string) => (value === "" ? "" : ` ${name}="${value}"`);
  const sessionEnd = parts.sessionEndsS === undefined ? "" : ` SessionNotOnOrAfter="${at(parts.sessionEndsS)}"`;
  const statement = `<saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="_s${number}"${sessionEnd}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`;
  const values = (all: readonly string[]) =>
    all.map((each) => `<saml:AttributeValue>${each}</saml:AttributeValue>`).join("");
  const conditions = `<saml:Conditions NotBefore="${at(parts.notBeforeS)}" NotOnOrAfter="${at(parts.notOnOrAfterS)}"><saml:AudienceRestriction><saml:Audience>${parts.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`;
  const assertion = `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${parts.assertionId}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${parts.issuer}</saml:Issuer><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${parts.nameId}</saml:NameID><saml:SubjectConfirmation Method="${parts.confirmationMethod}"><saml:SubjectConfirmationData${optional("InResponseTo", parts.subjectInResponseTo)} Recipient="${parts.recipient}" NotOnOrAfter="${at(parts.notOnOrAfterS)}"/></saml:SubjectConfirmation></saml:Subject>${parts.conditions ?? conditions}${parts.statement === "present" ? statement : parts.statement}<saml:AttributeStatement><saml:Attribute Name="email">${values([parts.email])}</saml:Attribute><saml:Attribute Name="groups">${values(parts.groups)}</saml:Attribute></saml:AttributeStatement></saml:Assertion>`;
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${parts.responseId}" Version="2.0" IssueInstant="${at(0)}"${optional("Destination", parts.destination)}${optional("InResponseTo", parts.inResponseTo)}><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${parts.responseIssuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${parts.status}"/></samlp:Status>${assertion}</samlp:Response>`;
}

/** The algorithms of a signature. */
export interface SignatureOptions {
  readonly signature?: string;
  readonly digest?: string;
  readonly canonicalization?: string;
  readonly transforms?: readonly string[];
  readonly key?: string;
}

/** Signs the first element with a name, as identity providers do. */
export function sign(xml: string, name: "Assertion" | "Response", key: IdpKey, options: SignatureOptions = {}): string {
  const element = `//*[local-name(.)='${name}']`;
  const signer = new SignedXml({
    privateKey: options.key ?? key.privateKey,
    signatureAlgorithm: options.signature ?? "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    canonicalizationAlgorithm: options.canonicalization ?? "http://www.w3.org/2001/10/xml-exc-c14n#",
    // Without KeyInfo, because certificates are pinned.
    getKeyInfoContent: () => null,
  });
  signer.addReference({
    xpath: element,
    transforms: options.transforms ?? [
      "http://www.w3.org/2000/09/xmldsig#enveloped-signature",
      "http://www.w3.org/2001/10/xml-exc-c14n#",
    ],
    digestAlgorithm: options.digest ?? "http://www.w3.org/2001/04/xmlenc#sha256",
  });
  signer.computeSignature(xml, { location: { reference: `${element}/*[local-name(.)='Issuer']`, action: "after" } });
  return signer.getSignedXml();
}

/** Encrypts the signed assertion of a response with the certificate of the service. */
export async function encryptAssertion(
  xml: string,
  certificate: string,
  ciphers: { readonly data?: string; readonly key?: string } = {},
): Promise<string> {
  const [assertion] = /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)!;
  const { createPublicKey, X509Certificate } = await import("node:crypto");
  const publicKey = createPublicKey(new X509Certificate(certificate).publicKey.export({ type: "spki", format: "pem" }));
  const encrypted = await new Promise<string>((resolve, reject) => {
    encrypt(
      assertion,
      {
        rsa_pub: publicKey.export({ type: "spki", format: "pem" }),
        pem: certificate,
        encryptionAlgorithm: ciphers.data ?? "http://www.w3.org/2009/xmlenc11#aes256-gcm",
        keyEncryptionAlgorithm: ciphers.key ?? "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p",
        disallowEncryptionWithInsecureAlgorithm: false,
        warnInsecureAlgorithm: false,
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    );
  });
  const wrapped = `<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${encrypted}</saml:EncryptedAssertion>`;
  return xml.replace(assertion, () => wrapped);
}
