import { clearField, clone, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import { type Failure, fail } from "../errors/index.ts";
import { type Keyring, SealError } from "../platform/crypto/index.ts";
import type { Claim } from "../platform/idempotency/index.ts";
import { createJsonDecoder, createJsonEncoder } from "../platform/protojson/index.ts";

/** Encodes an operation's responses for storage, so that a replay can return them. */
export interface StoredResponseCodec {
  encode(response: Message, claim: Claim): string;
  decode(stored: string, claim: Claim): Message;
}

/**
 * Creates the codec of an operation's responses. A response type with a secret field, at any depth, is sealed before it is
 * stored, so that the database never holds the secret in clear text. Without a keyring the secret is left out, and a
 * replay gets the response without it.
 */
export function createStoredResponseCodec({ method }: Operation, keyring: Keyring | undefined): StoredResponseCodec {
  const { output } = method;
  const decode = createJsonDecoder(output);
  const plain: StoredResponseCodec = {
    encode: createJsonEncoder(output, "json"),
    decode: (stored) => decode(JSON.parse(stored)),
  };
  if (!hasSecrets(output)) return plain;
  if (keyring === undefined) {
    return {
      encode: (response, claim) => plain.encode(withoutSecrets(output, response), claim),
      decode: (stored, claim) => {
        if (isSealed(stored)) throw responseLost();
        return plain.decode(stored, claim);
      },
    };
  }
  const binding = ({ tenantId, fingerprint }: Claim) => ({
    tenantId,
    recordId: fingerprint.toString("hex"),
    field: "idempotency.response",
  });
  return {
    encode: (response, claim) => keyring.seal(plain.encode(response, claim), binding(claim)),
    // Responses stored before the keyring was configured are not sealed.
    decode: (stored, claim) => plain.decode(isSealed(stored) ? open(stored, claim) : stored, claim),
  };

  function open(stored: string, claim: Claim): string {
    try {
      return keyring!.open(stored, binding(claim));
    } catch (error) {
      const cause = (error as Error).cause;
      throw cause instanceof SealError && cause.fault === "unknown_key" ? responseLost(error) : error;
    }
  }
}

/** A stored response is either a JSON object or sealed. */
function isSealed(stored: string): boolean {
  return !stored.startsWith("{");
}

function responseLost(cause?: unknown): Failure {
  return fail("IDEMPOTENCY_ANSWER_LOST", { cause });
}

function isSecret(field: DescField): boolean {
  return field.proto.options?.debugRedact === true;
}

function hasSecrets(desc: DescMessage, visited = new Set<string>()): boolean {
  if (visited.has(desc.typeName)) return false;
  visited.add(desc.typeName);
  return desc.fields.some(
    (field) => isSecret(field) || (field.message !== undefined && hasSecrets(field.message, visited)),
  );
}

function withoutSecrets(desc: DescMessage, response: Message): Message {
  const copy = clone(desc, response);
  clearSecrets(desc, copy);
  return copy;
}

function clearSecrets(desc: DescMessage, message: Message): void {
  for (const field of desc.fields) {
    if (isSecret(field)) clearField(message, field);
    else if (field.message !== undefined && hasSecrets(field.message)) {
      for (const inner of messagesIn(message, field)) clearSecrets(field.message, inner);
    }
  }
}

function messagesIn(message: Message, field: DescField): Message[] {
  const value = (message as unknown as Record<string, unknown>)[field.localName];
  if (value === undefined) return [];
  if (field.fieldKind === "list") return value as Message[];
  return field.fieldKind === "map" ? Object.values(value as Record<string, Message>) : [value as Message];
}
