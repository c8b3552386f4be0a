import { clearField, clone, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import { createJsonDecoder, createJsonEncoder } from "../platform/protojson/index.ts";

/** Encodes an operation's responses for storage, so that a replay can return them. */
export type StoredResponseCodec = ReturnType<typeof createStoredResponseCodec>;

/** Creates the codec of an operation's responses. Secrets are returned once, so they are neither stored nor replayed. */
export function createStoredResponseCodec({ method: { output } }: Operation) {
  const encode = createJsonEncoder(output, "json");
  const decode = createJsonDecoder(output);
  return {
    encode: hasSecrets(output) ? (response: Message) => encode(withoutSecrets(output, response)) : encode,
    decode: (stored: string): Message => decode(JSON.parse(stored)),
  };
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
