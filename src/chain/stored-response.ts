import { clone, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import type { Keyring } from "../platform/crypto/index.ts";
import type { Claim } from "../platform/idempotency/index.ts";

/** How an operation's answer is kept for repeats. */
export interface StoredResponseCodec {
  encode(response: Message, claim: Claim): Buffer;
  decode(stored: Buffer, claim: Claim): Message;
}

/**
 * Answers that show a secret once are sealed before they are kept, so that the database never holds it readable.
 * Without a keyring the secret is left out, and a repeat gets the answer without it.
 */
export function storedResponseCodec({ method }: Operation, keyring: Keyring | undefined): StoredResponseCodec {
  const { output } = method;
  const plain: StoredResponseCodec = {
    encode: (response) => Buffer.from(toBinary(output, response)),
    decode: (stored) => fromBinary(output, stored),
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
    encode: (response, claim) =>
      Buffer.from(keyring.seal(plain.encode(response, claim).toString("base64"), binding(claim))),
    decode: (stored, claim) =>
      plain.decode(Buffer.from(keyring.open(stored.toString("utf8"), binding(claim)), "base64"), claim),
  };
}

function without(desc: DescMessage, response: Message, secrets: DescMessage["fields"]): Message {
  const copy = clone(desc, response) as unknown as Record<string, unknown>;
  for (const field of secrets) copy[field.localName] = "";
  return copy as unknown as Message;
}
