import { X509Certificate } from "node:crypto";
import { invalid } from "../../../../errors/index.ts";

const rsaBitsMin = 2048;

/** Reads a certificate of an identity provider; throws INVALID_ARGUMENT if it cannot be used. */
export function checkedCertificate(field: string, pem: string): X509Certificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(asPem(pem));
  } catch {
    throw invalid(field, "certificate", "must be one X.509 certificate in PEM (-----BEGIN CERTIFICATE-----)");
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
  if (asymmetricKeyType !== "rsa" || (asymmetricKeyDetails?.modulusLength ?? 0) < rsaBitsMin) {
    throw invalid(field, "certificate", `must have an RSA key of at least ${rsaBitsMin} bits`);
  }
  return certificate;
}

/** A certificate in PEM. Metadata contain only its base64 part. */
function asPem(text: string): string {
  if (text.includes("-----BEGIN")) return text;
  const lines = text.replace(/\s+/g, "").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
