import { setImmediate as nextTurn } from "node:timers/promises";
import { type DescField, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

// Small values of a Struct take up to a millisecond for one KiB. So a message with lists of messages is encoded and decoded item
// by item, with turns of the event loop in between. The items of a list may be anywhere in a message, as long as they are in order.

/** Lists up to this length are encoded at once. */
const itemsAtOnce = 8;
const bytesPerTurn = 16 * 1024;

type Slots = Record<string, Message[]>;
type ListField = DescField & { readonly message: DescMessage };

function listsOf(desc: DescMessage): ListField[] {
  return desc.fields.filter((field): field is ListField => field.fieldKind === "list" && field.message !== undefined);
}

/** Creates the encoder of responses. Only a long list is encoded over several turns, as a promise. */
export function createBinaryEncoder(desc: DescMessage): (message: Message) => Uint8Array | Promise<Uint8Array> {
  const lists = listsOf(desc);
  return (message) => {
    const long = lists.filter(({ localName }) => (message as unknown as Slots)[localName]!.length > itemsAtOnce);
    return long.length === 0 ? toBinary(desc, message) : encodeInTurns(desc, message, long);
  };
}

async function encodeInTurns(desc: DescMessage, message: Message, lists: readonly ListField[]): Promise<Uint8Array> {
  const empty = Object.fromEntries(lists.map(({ localName }) => [localName, []]));
  const parts = [toBinary(desc, { ...message, ...empty })];
  const turns = createTurns();
  for (const { localName, number, message: item } of lists) {
    for (const each of (message as unknown as Slots)[localName]!) {
      const bytes = toBinary(item, each);
      parts.push(new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(bytes.length).finish(), bytes);
      if (turns.isOver(bytes.length)) await nextTurn();
    }
  }
  return Buffer.concat(parts);
}

/** Creates the decoder of large requests. */
export function createBinaryDecoder(desc: DescMessage): (body: Uint8Array) => Promise<Message> {
  const lists = new Map(listsOf(desc).map((field) => [field.number, field]));
  const options = { readUnknownFields: false };
  return async (body) => {
    const others: Uint8Array[] = [];
    const items: { readonly list: ListField; readonly bytes: Uint8Array }[] = [];
    const reader = new BinaryReader(body);
    while (reader.pos < reader.len) {
      const start = reader.pos;
      const [number, wireType] = reader.tag();
      const list = wireType === WireType.LengthDelimited ? lists.get(number) : undefined;
      if (list !== undefined) items.push({ list, bytes: reader.bytes() });
      else {
        reader.skip(wireType, number);
        others.push(body.subarray(start, reader.pos));
      }
    }
    const message = fromBinary(desc, Buffer.concat(others), options);
    const turns = createTurns();
    for (const { list, bytes } of items) {
      (message as unknown as Slots)[list.localName]!.push(fromBinary(list.message, bytes, options));
      if (turns.isOver(bytes.length)) await nextTurn();
    }
    return message;
  };
}

/** Counts the bytes of a turn. */
function createTurns() {
  let bytes = 0;
  return {
    isOver(added: number): boolean {
      bytes += added;
      if (bytes < bytesPerTurn) return false;
      bytes = 0;
      return true;
    },
  };
}
