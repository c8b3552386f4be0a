import { clone, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import type { Keyring } from "../platform/crypto/index.ts";
import type { Claim } from "../platform/idempotency/index.ts";
import { jsonDecoder, jsonEncoder } from "../platform/protojson/index.ts";

/** How an operation's answer is kept for repeats. */
export interface StoredResponseCodec {
  encode(response: Message, claim: Claim): string;
  decode(stored: string, claim: Claim): Message;
}

/**
 * Answers that show a secret once are sealed before they are kept, so that the database never holds it readable.
 * Without a keyring the secret is left out, and a repeat gets the answer without it.
 */
export function storedResponseCodec({ method }: Operation, keyring: Keyring | undefined): StoredResponseCodec {
  const { output } = method;
  const decode = jsonDecoder(output);
  const plain: StoredResponseCodec = {
    encode: jsonEncoder(output, "json"),
    decode: (stored) => decode(JSON.parse(stored)),
  };
  const secrets = output.fields.filter((field) => field.proto.options?.debugRedact === true);
  if (secrets.length === 0) return plain;
  if (keyring === undefined) {
    return { ...plain, encode: (response, claim) => plain.encode(without(output, response, secrets), claim) };
  }
  const binding = ({ tenantId, fingerprint }: Claim) => ({
    tenantId,
    recordId: fingerprint.toString("hex"),
    field: "idempotency.response",
  });
  return {
    encode: (response, claim) => keyring.seal(plain.encode(response, claim), binding(claim)),
    decode: (stored, claim) => plain.decode(keyring.open(stored, binding(claim)), claim),
  };
}

function without(desc: DescMessage, response: Message, secrets: DescMessage["fields"]): Message {
  const copy = clone(desc, response) as unknown as Record<string, unknown>;
  for (const field of secrets) copy[field.localName] = "";
  return copy as unknown as Message;
}
