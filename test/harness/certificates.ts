import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** A certificate with its private key, both PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority for tests. */
export interface Authority {
  /** The authority's own certificate, PEM. */
  readonly cert: string;
  /** Signs a certificate for a subject such as `CN=billing, O=…`; a server certificate when addresses are given. */
  issue(name: string, options?: { addresses?: readonly string[]; notAfter?: Date }): Promise<Identity>;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const dayMs = 86_400_000;

/** Creates a private authority. */
export async function createAuthority(name: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + dayMs),
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  return {
    cert: certificate.toString("pem"),
    async issue(subject, { addresses = [], notAfter = new Date(Date.now() + dayMs) } = {}) {
      const own = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
      const issued = await x509.X509CertificateGenerator.create({
        subject,
        issuer: certificate.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        notBefore: new Date(Date.now() - 2 * dayMs),
        notAfter,
        extensions: [
          new x509.BasicConstraintsExtension(false),
          new x509.SubjectAlternativeNameExtension(addresses.map((value) => ({ type: "ip", value }))),
        ],
      });
      const key = await webcrypto.subtle.exportKey("pkcs8", own.privateKey);
      return { cert: issued.toString("pem"), key: x509.PemConverter.encode(key, "PRIVATE KEY") };
    },
  };
}
