import { generateKeyPair, randomBytes, sign } from "node:crypto";
import { promisify } from "node:util";

/** The key of this service for one SAML connection, with its self-signed certificate. */
export interface ServiceKeyPair {
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** PEM. */
  readonly certificate: string;
}

const validFrom = "20200101000000Z";
const validTo = "99991231235959Z";

/**
 * Creates an RSA key and its certificate. SAML metadata carry keys as certificates, and identity providers pin them: the
 * validity does not matter, so that it does not end.
 */
export async function createKeyPair(name: string): Promise<ServiceKeyPair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const algorithm = sequence(objectId("2a864886f70d01010b"), element(0x05, Buffer.alloc(0)));
  const commonName = sequence(element(0x31, sequence(objectId("550403"), element(0x0c, Buffer.from(name)))));
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    commonName,
    sequence(element(0x18, Buffer.from(validFrom)), element(0x18, Buffer.from(validTo))),
    commonName,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = element(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  const base64 = sequence(body, algorithm, signature).toString("base64");
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    certificate: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)!.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

/** An element of DER: its tag, its length and its content. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 + bytes.length]), bytes, content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function objectId(hex: string): Buffer {
  return element(0x06, Buffer.from(hex, "hex"));
}
