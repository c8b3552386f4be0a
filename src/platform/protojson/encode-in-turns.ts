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

/** Lists up to this length are encoded at once. */
const itemsAtOnce = 8;
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
      if ((listAt(message, path)?.length ?? 0) > itemsAtOnce) return encodeInTurns(message);
    }
    return encode(message);
  };

  function encodeInTurns(message: MessageShape<Desc>): string | Promise<string> {
    const texts = new Map<unknown, string>();
    const further: Promise<unknown>[] = [];
    for (const { path, encodeItem } of lists) {
      const items = listAt(message, path) ?? [];
      const text = encodeList(items, encodeItem);
      if (typeof text === "string") texts.set(items, text);
      else further.push(text.then((whole) => texts.set(items, whole)));
    }
    const encodeRest = () => encodeWithLists(encode, message, texts);
    return further.length === 0 ? encodeRest() : Promise.all(further).then(encodeRest);
  }
}

/** Like createTurnEncoder, for a list of messages of one type. */
export function createListEncoder<Desc extends DescMessage>(
  desc: Desc,
  names: JsonNames,
): (items: readonly MessageShape<Desc>[]) => string | Promise<string> {
  const encodeItem = createJsonEncoder(desc, names);
  return (items) => encodeList(items, encodeItem);
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

/** Encodes the first items immediately; a promise follows only if there are more than one turn can encode. */
function encodeList<T>(items: readonly T[], encodeItem: (item: T) => string): string | Promise<string> {
  let text = "[";
  let at = 0;
  const encodeTurn = () => {
    const end = Math.min(items.length, at + itemsPerTurn);
    const textEnd = text.length + charsPerTurn;
    for (; at < end && text.length < textEnd; at++)
      text += at === 0 ? encodeItem(items[at]!) : `,${encodeItem(items[at]!)}`;
    return at === items.length ? `${text}]` : undefined;
  };
  return encodeTurn() ?? encodeFurther();

  async function encodeFurther(): Promise<string> {
    for (;;) {
      await nextTurn();
      const whole = encodeTurn();
      if (whole !== undefined) return whole;
    }
  }
}
