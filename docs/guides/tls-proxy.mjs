// A proxy to try TLS with. It has a certificate for 127.0.0.1 from an authority of its own, and forwards to a service without TLS.
//
//   node docs/guides/tls-proxy.mjs <folder> <address of the service>
//
// <folder>/ca.pem  the certificate of the authority, which clients trust
// <folder>/url     the address that it listens on
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { createServer } from "node:tls";
import * as x509 from "@peculiar/x509";

const [folder, service] = process.argv.slice(2);
const target = new URL(service);
const dayMs = 86_400_000;
const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const validity = { notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + dayMs) };
const createKeys = () => webcrypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);

const authorityKeys = await createKeys();
const authority = await x509.X509CertificateGenerator.createSelfSigned({
  ...{ ...validity, signingAlgorithm },
  name: "CN=Guide authority",
  keys: authorityKeys,
  extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
});
const keys = await createKeys();
const certificate = await x509.X509CertificateGenerator.create({
  ...{ ...validity, signingAlgorithm },
  subject: "CN=Guide proxy",
  issuer: authority.subject,
  publicKey: keys.publicKey,
  signingKey: authorityKeys.privateKey,
  extensions: [new x509.SubjectAlternativeNameExtension([{ type: "ip", value: "127.0.0.1" }])],
});
const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");

// Renaming makes a file appear with its whole content.
function save(name, content) {
  writeFileSync(`${folder}/${name}.new`, content);
  renameSync(`${folder}/${name}.new`, `${folder}/${name}`);
}

// gRPC needs HTTP/2, which the client and the proxy agree on with ALPN.
const options = { cert: certificate.toString("pem"), key, ALPNProtocols: ["h2"] };
const server = createServer(options, (client) => {
  const upstream = connect(Number(target.port), target.hostname);
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
  client.pipe(upstream).pipe(client);
});
server.listen(0, "127.0.0.1", () => {
  save("ca.pem", authority.toString("pem"));
  save("url", `https://127.0.0.1:${server.address().port}`);
});
// It stops by itself after ten minutes.
setTimeout(() => process.exit(), 600_000);
