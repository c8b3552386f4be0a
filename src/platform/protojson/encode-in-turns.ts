import { setImmediate as nextTurn } from "node:timers/promises";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { createJsonEncoder, encodeWithLists, type JsonNames } from "./encode.ts";
import type { Slots } from "./shape.ts";

/** A list of messages inside of a message type. */
interface ListField {
  /** The names of the fields that lead to the list. */
  readonly path: readonly string[];
  readonly encodeItem: (item: never) => string;
}

/** How many items, and about how many characters, are encoded in one turn of the event loop. */
const itemsPerTurn = 250;
const charsPerTurn = 64 * 1024;
/** Lists that are deeper in a message are short. */
const depthMax = 2;

/**
 * Like createJsonEncoder, for responses: a list with many items is encoded over several turns of the event loop. Only such
 * messages return a promise.
 */
export function createTurnEncoder<Desc extends DescMessage>(
  desc: Desc,
  names: JsonNames,
): (message: MessageShape<Desc>) => string | Promise<string> {
  const encode = createJsonEncoder(desc, names);
  const lists = listsOf(desc, names, []);
  if (lists.length === 0) return encode;
  return (message) => {
    for (const { path } of lists) {
      if ((listAt(message, path)?.length ?? 0) > itemsPerTurn) return encodeInTurns(message);
    }
    return encode(message);
  };

  async function encodeInTurns(message: MessageShape<Desc>): Promise<string> {
    const texts = new Map<unknown, string>();
    for (const { path, encodeItem } of lists) {
      const items = listAt(message, path) ?? [];
      if (items.length > itemsPerTurn) texts.set(items, await encodeList(items, encodeItem));
    }
    return encodeWithLists(encode, message, texts);
  }
}

function listsOf(desc: DescMessage, names: JsonNames, path: readonly string[]): ListField[] {
  return desc.fields.flatMap((field): ListField[] => {
    // Google's types have short lists, or encoders of their own.
    if (field.message === undefined || field.message.file.proto.package.startsWith("google.")) return [];
    const inner = [...path, field.localName];
    if (field.fieldKind === "list") return [{ path: inner, encodeItem: createJsonEncoder(field.message, names) }];
    const isNested = field.fieldKind === "message" && field.oneof === undefined && inner.length < depthMax;
    return isNested ? listsOf(field.message, names, inner) : [];
  });
}

function listAt(message: unknown, path: readonly string[]): readonly never[] | undefined {
  let current = message;
  for (let at = 0; at < path.length && current !== undefined; at++) current = (current as Slots)[path[at]!];
  return current as readonly never[] | undefined;
}

async function encodeList(items: readonly never[], encodeItem: (item: never) => string): Promise<string> {
  let text = "[";
  let turnItems = 0;
  let turnStart = 0;
  for (let at = 0; at < items.length; at++) {
    text += at === 0 ? encodeItem(items[at]!) : `,${encodeItem(items[at]!)}`;
    if (++turnItems < itemsPerTurn && text.length - turnStart < charsPerTurn) continue;
    await nextTurn();
    turnItems = 0;
    turnStart = text.length;
  }
  return `${text}]`;
}
