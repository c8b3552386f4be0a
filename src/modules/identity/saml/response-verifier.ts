import type { SamlConnection } from "../connections/index.ts";
import { type AssertionContent, readAssertion } from "./assertion.ts";
import { decrypt, SAML, type SamlLibrary, type XmlElement } from "./libraries.ts";
import { require, SamlRefusal } from "./saml-refusal.ts";
import { checkEncryption, checkSignatures } from "./signature-rules.ts";
import {
  assertionNs,
  attributeOf,
  childrenOf,
  decodeBase64,
  elementsIn,
  onlyChild,
  parseXml,
  protocolNs,
  signatureNs,
  textOf,
} from "./xml-document.ts";

/** This service's identity as a service provider of a connection. */
export interface ServiceIdentity {
  readonly entityId: string;
  readonly acsUrl: string;
  /** The private key, PEM. */
  readonly privateKey: string;
}

/** A response whose signature and content are verified. */
export interface VerifiedContent {
  readonly content: AssertionContent;
  readonly inResponseTo: string | undefined;
}

const success = "urn:oasis:names:tc:SAML:2.0:status:Success";

interface SamlOptions {
  readonly skewMs: number;
  /** The id of the request that is created. */
  readonly requestId?: string;
  readonly isResponseSigned?: boolean;
}

/** Creates the library's object for a connection. Only what it verifies well is left to it. */
export function createSaml(
  connection: SamlConnection,
  self: ServiceIdentity,
  { skewMs, requestId, isResponseSigned = false }: SamlOptions,
): SamlLibrary {
  const { settings } = connection;
  return new SAML({
    callbackUrl: self.acsUrl,
    issuer: self.entityId,
    audience: self.entityId,
    entryPoint: settings.ssoUrl,
    ...(settings.sloUrl !== "" && { logoutUrl: settings.sloUrl }),
    idpCert: [...settings.certificates],
    idpIssuer: settings.idpEntityId,
    privateKey: self.privateKey,
    decryptionPvk: self.privateKey,
    signatureAlgorithm: "sha256",
    digestAlgorithm: "sha256",
    wantAssertionsSigned: true,
    // A response need not be signed, but a signature that it has must be valid.
    wantAuthnResponseSigned: isResponseSigned,
    acceptedClockSkewMs: skewMs,
    // Requests are compared with the attempts in the database. The library would forget a request at the first bad response.
    validateInResponseTo: "never",
    disableRequestedAuthnContext: true,
    identifierFormat: null,
    ...(requestId !== undefined && { generateUniqueId: () => requestId }),
  });
}

/**
 * Verifies a response of an identity provider. The structure is checked before the signature, so that there is exactly one
 * assertion that the signature can be about, and the content after it, from the bytes that were signed.
 */
export async function verifyResponse(
  connection: SamlConnection,
  self: ServiceIdentity,
  message: string,
  { nowMs, skewMs }: { readonly nowMs: number; readonly skewMs: number },
): Promise<VerifiedContent> {
  const { settings } = connection;
  const xml = utf8Of(decodeBase64(message));
  const response = parseXml(xml);
  require(response.localName === "Response" && response.namespaceURI === protocolNs, "the message is not a response");
  require(attributeOf(response, "Version") === "2.0", "the response has another version");
  const { plain, encrypted } = holderOf(response);
  checkSignatures(response, plain === undefined ? [response] : [response, plain]);
  checkHead(response, settings.idpEntityId, self.acsUrl);
  if (encrypted === undefined) require(!settings.requireEncryption, "the assertion is not encrypted");
  else await checkEncrypted(encrypted, self.privateKey);
  if (plain !== undefined) {
    require(childrenOf(plain, signatureNs, "Signature").length === 1, "the assertion is not signed");
  }

  const inResponseTo = attributeOf(response, "InResponseTo");
  const isResponseSigned = childrenOf(response, signatureNs, "Signature").length > 0;
  const saml = createSaml(connection, self, { skewMs, isResponseSigned });
  const { profile } = await saml
    .validatePostResponseAsync({ SAMLResponse: Buffer.from(xml).toString("base64") })
    .catch((cause: Error) => {
      throw new SamlRefusal(`the response is not valid: ${cause.message}`, { cause });
    });
  require(profile?.getAssertionXml !== undefined, "the response has no assertion");
  // Only what was signed is read.
  const assertion = parseXml(profile.getAssertionXml());
  const content = readAssertion(assertion, {
    ...{ idpEntityId: settings.idpEntityId, audience: self.entityId, recipient: self.acsUrl },
    ...{ inResponseTo, nowMs, skewMs },
  });
  require(profile.nameID === content.nameId, "the name id is ambiguous");
  return { content, inResponseTo };
}

/** The one assertion of a response, plain or encrypted. There must not be another one anywhere. */
function holderOf(response: XmlElement): {
  readonly plain: XmlElement | undefined;
  readonly encrypted: XmlElement | undefined;
} {
  const all = elementsIn(response).filter(({ localName }) => /^(?:encrypted)?assertion$/i.test(localName ?? ""));
  require(all.length === 1, "the response must have exactly one assertion");
  const [only] = all as [XmlElement];
  require(only.parentNode === response && only.namespaceURI === assertionNs, "the assertion is at another place");
  const isPlain = only.localName === "Assertion";
  require(isPlain || only.localName === "EncryptedAssertion", "the assertion has another name");
  return { plain: isPlain ? only : undefined, encrypted: isPlain ? undefined : only };
}

/** Checks what the response itself says. It need not be signed, but must not contradict the assertion. */
function checkHead(response: XmlElement, idpEntityId: string, acsUrl: string): void {
  const status = onlyChild(onlyChild(response, protocolNs, "Status"), protocolNs, "StatusCode");
  require(attributeOf(status, "Value") === success, "the identity provider did not sign anybody in");
  const [issuer] = childrenOf(response, assertionNs, "Issuer");
  require(issuer === undefined || textOf(issuer) === idpEntityId, "the response has another issuer");
  const destination = attributeOf(response, "Destination");
  const isSigned = childrenOf(response, signatureNs, "Signature").length > 0;
  require(destination === acsUrl || (destination === undefined && !isSigned), "the response has another destination");
}

/** Checks an encrypted assertion and what is in it. */
async function checkEncrypted(encrypted: XmlElement, privateKey: string): Promise<void> {
  checkEncryption(encrypted);
  const xml = await new Promise<string>((resolve, reject) => {
    decrypt(encrypted.toString(), { key: privateKey }, (error, result) => {
      if (error) reject(new SamlRefusal("the assertion cannot be decrypted", { cause: error }));
      else resolve(String(result));
    });
  });
  const assertion = parseXml(xml);
  require(assertion.localName === "Assertion" && assertion.namespaceURI === assertionNs, "there is no assertion");
  const inner = elementsIn(assertion).filter(({ localName }) => /^(?:encrypted)?assertion$/i.test(localName ?? ""));
  require(inner.length === 1, "the response must have exactly one assertion");
  require(childrenOf(assertion, signatureNs, "Signature").length === 1, "the assertion is not signed");
  checkSignatures(assertion, [assertion]);
}

function utf8Of(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (cause) {
    throw new SamlRefusal("the message is not UTF-8", { cause });
  }
}
