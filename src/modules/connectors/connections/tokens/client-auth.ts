import { createPrivateKey, type webcrypto } from "node:crypto";
import { importPKCS8 } from "jose";
import { type ClientAuth, ClientSecretPost, modifyAssertion, None, PrivateKeyJwt } from "oauth4webapi";

/** How a client authenticates at a token endpoint. */
export type ClientAuthMethod = "basic" | "body" | "private_key_jwt" | "none";

interface ClientSecrets {
  readonly clientSecret: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

/** Creates the authentication of a client. Throws if the private key cannot be read. */
export async function clientAuthOf(
  method: ClientAuthMethod,
  secrets: ClientSecrets,
  audience: string,
): Promise<ClientAuth> {
  switch (method) {
    case "basic":
      return basicAuth(secrets.clientSecret);
    case "body":
      // An app without a secret is a public client.
      return secrets.clientSecret === "" ? None() : ClientSecretPost(secrets.clientSecret);
    case "private_key_jwt":
      // Providers expect their token endpoint as the audience, not an issuer.
      return PrivateKeyJwt(await privateKeyOf(secrets.privateKey), {
        [modifyAssertion]: (_header, payload) => {
          payload.aud = audience;
        },
      });
    case "none":
      return None();
  }
}

/**
 * HTTP Basic with as little encoding as RFC 6749 allows. Many providers do not decode the id and the secret, so that only
 * characters are encoded which a provider that does decode would otherwise misread.
 */
function basicAuth(clientSecret: string): ClientAuth {
  const encode = (text: string, also: RegExp) =>
    text.replace(also, (character) => encodeURIComponent(character).replace(":", "%3A"));
  return (_server, client, _body, headers) => {
    const id = encode(client.client_id, /[%+:]|[^\x20-\x7e]/gu);
    const secret = encode(clientSecret, /[%+]|[^\x20-\x7e]/gu);
    headers.set("authorization", `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`);
  };
}

/** Reads a private key. Line breaks may be written as `\n`, as in the key files of Google. */
export function privateKeyOf(pem: string): Promise<webcrypto.CryptoKey> {
  const text = pem.replaceAll("\\n", "\n");
  const key = createPrivateKey(text);
  const pkcs8 = key.export({ type: "pkcs8", format: "pem" }) as string;
  return importPKCS8(pkcs8, algorithmOf(key.asymmetricKeyType));
}

function algorithmOf(type: string | undefined): string {
  return type === "ec" ? "ES256" : type === "ed25519" ? "EdDSA" : "RS256";
}
