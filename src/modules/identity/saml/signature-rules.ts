import type { XmlElement } from "./libraries.ts";
import { require } from "./saml-refusal.ts";
import { attributeOf, childrenOf, elementsIn, encryptionNs, onlyChild, signatureNs } from "./xml-document.ts";

const signatureMethods = new Set(
  ["256", "384", "512"].map((bits) => `http://www.w3.org/2001/04/xmldsig-more#rsa-sha${bits}`),
);
const digestMethods = new Set([
  "http://www.w3.org/2001/04/xmlenc#sha256",
  "http://www.w3.org/2001/04/xmldsig-more#sha384",
  "http://www.w3.org/2001/04/xmlenc#sha512",
]);
const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#";
const enveloped = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
const dataCiphers = new Set(["128", "192", "256"].map((bits) => `http://www.w3.org/2009/xmlenc11#aes${bits}-gcm`));
const keyCiphers = new Set([
  "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p",
  "http://www.w3.org/2009/xmlenc11#rsa-oaep",
]);

/**
 * Refuses every signature but the plain kind: SHA-2, one reference to the element that contains the signature, the two usual
 * transforms, and nothing that a signature could hide content in.
 */
export function checkSignatures(root: XmlElement, signed: readonly XmlElement[]): void {
  const signatures = elementsIn(root).filter((each) => each.localName === "Signature");
  for (const signature of signatures) {
    const parent = signature.parentNode as XmlElement;
    require(signature.namespaceURI === signatureNs &&
      signed.includes(parent), "a signature is at a place where none belongs");
    require(childrenOf(parent, signatureNs, "Signature").length === 1, "an element has two signatures");
    const names = childrenOf(signature).map(({ localName }) => localName);
    const isPlain = names.every((name) => name === "SignedInfo" || name === "SignatureValue" || name === "KeyInfo");
    require(isPlain, "a signature contains more than a signature");
    const info = onlyChild(signature, signatureNs, "SignedInfo");
    const canonicalization = onlyChild(info, signatureNs, "CanonicalizationMethod");
    require(attributeOf(canonicalization, "Algorithm") === exclusive, "the canonicalization is not exclusive");
    const method = attributeOf(onlyChild(info, signatureNs, "SignatureMethod"), "Algorithm") ?? "";
    require(signatureMethods.has(method), `the signature method is not allowed: ${method}`);
    const reference = onlyChild(info, signatureNs, "Reference");
    const digest = attributeOf(onlyChild(reference, signatureNs, "DigestMethod"), "Algorithm") ?? "";
    require(digestMethods.has(digest), `the digest method is not allowed: ${digest}`);
    const id = attributeOf(parent, "ID") ?? "";
    require(/^[A-Za-z_][\w.-]{0,255}$/.test(id), "the signed element has no valid id");
    require(attributeOf(reference, "URI") === `#${id}`, "a signature refers to another element");
    const transforms = childrenOf(onlyChild(reference, signatureNs, "Transforms"), signatureNs, "Transform");
    const algorithms = transforms.map((each) => attributeOf(each, "Algorithm"));
    const isUsual = algorithms.length === 2 && algorithms[0] === enveloped && algorithms[1] === exclusive;
    require(isUsual, "a signature has other transforms than the usual two");
  }
}

/** Refuses every encryption but AES-GCM with a key under RSA-OAEP. */
export function checkEncryption(encrypted: XmlElement): void {
  const all = elementsIn(encrypted);
  const data = all.filter(({ localName }) => localName === "EncryptedData");
  const keys = all.filter(({ localName }) => localName === "EncryptedKey");
  require(data.length === 1 && keys.length === 1, "an encrypted assertion has several parts");
  require(!all.some(({ localName }) => localName === "CipherReference"), "encrypted data are elsewhere");
  const cipherOf = (element: XmlElement) =>
    attributeOf(onlyChild(element, encryptionNs, "EncryptionMethod"), "Algorithm") ?? "";
  require(dataCiphers.has(cipherOf(data[0]!)), `the cipher is not allowed: ${cipherOf(data[0]!)}`);
  require(keyCiphers.has(cipherOf(keys[0]!)), `the key transport is not allowed: ${cipherOf(keys[0]!)}`);
}
