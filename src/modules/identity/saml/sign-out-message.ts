import { createVerify } from "node:crypto";
import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import type { SamlConnection } from "../connections/index.ts";
import { require, SamlRefusal } from "./saml-refusal.ts";
import {
  assertionNs,
  attributeOf,
  childrenOf,
  decodeBase64,
  onlyChild,
  parseXml,
  protocolNs,
  textOf,
} from "./xml-document.ts";

const xmlBytesMax = 64 * 1024;
const signatureMethods: Readonly<Record<string, string>> = {
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256": "RSA-SHA256",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384": "RSA-SHA384",
  "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": "RSA-SHA512",
};
/** How old a request may be. */
const ageMsMax = 5 * 60_000;

/** A request of the identity provider to sign somebody out. */
export interface SignOutRequest {
  readonly id: string;
  readonly nameId: string;
  /** Empty to sign all sessions of the person out. */
  readonly sessionIndex: string;
  readonly expiresAtMs: number;
}

/**
 * Reads a signed request of the binding HTTP-Redirect. The signature covers the query as it was sent, so that the query is not
 * decoded and encoded again.
 */
export async function readSignOutRequest(
  connection: SamlConnection,
  rawQuery: string,
  destination: string,
  { nowMs, skewMs }: { readonly nowMs: number; readonly skewMs: number },
): Promise<SignOutRequest> {
  const { settings } = connection;
  const raw = rawParameters(rawQuery);
  verifyQuery(raw, settings.certificates);
  const inflated = await promisify(inflateRaw)(decodeBase64(decodeURIComponent(raw.get("SAMLRequest")!)), {
    maxOutputLength: xmlBytesMax,
  }).catch((cause: unknown) => {
    throw new SamlRefusal("the message cannot be decompressed", { cause });
  });
  const request = parseXml((inflated as Buffer).toString("utf8"));
  require(request.localName === "LogoutRequest" && request.namespaceURI === protocolNs, "the message is no sign-out");
  require(textOf(onlyChild(request, assertionNs, "Issuer")) === settings.idpEntityId, "the request has another issuer");
  require(attributeOf(request, "Destination") === destination, "the request has another destination");
  const issuedMs = Date.parse(attributeOf(request, "IssueInstant") ?? "");
  require(Math.abs(nowMs - issuedMs) <= ageMsMax + skewMs, "the request is too old");
  const end = attributeOf(request, "NotOnOrAfter");
  require(end === undefined || Date.parse(end) > nowMs - skewMs, "the request has expired");
  const id = attributeOf(request, "ID") ?? "";
  require(id !== "" && id.length <= 256, "the request has no id");
  const [index] = childrenOf(request, protocolNs, "SessionIndex");
  return {
    ...{ id, nameId: textOf(onlyChild(request, assertionNs, "NameID")) },
    sessionIndex: index === undefined ? "" : textOf(index),
    expiresAtMs: issuedMs + ageMsMax + 2 * skewMs,
  };
}

function rawParameters(rawQuery: string): ReadonlyMap<string, string> {
  const raw = new Map<string, string>();
  for (const pair of rawQuery.split("&")) {
    const at = pair.indexOf("=");
    const name = at < 0 ? pair : pair.slice(0, at);
    require(!raw.has(name), "a parameter was sent twice");
    raw.set(name, at < 0 ? "" : pair.slice(at + 1));
  }
  return raw;
}

function verifyQuery(raw: ReadonlyMap<string, string>, certificates: readonly string[]): void {
  const names = raw.has("RelayState") ? ["SAMLRequest", "RelayState", "SigAlg"] : ["SAMLRequest", "SigAlg"];
  require(names.every((name) => raw.has(name)) && raw.has("Signature"), "the request is not signed");
  const method = signatureMethods[decodeURIComponent(raw.get("SigAlg")!)];
  require(method !== undefined, "the signature method is not allowed");
  const signed = names.map((name) => `${name}=${raw.get(name)}`).join("&");
  const signature = decodeBase64(decodeURIComponent(raw.get("Signature")!));
  const isValid = certificates.some((certificate) =>
    createVerify(method).update(signed).verify(certificate, signature),
  );
  require(isValid, "the signature is not valid");
}
