import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** A message seen as what it is at run time: an object with a property for each member. */
export type Slots = Message & Record<string, unknown>;

/** The value of a oneof: which member is set, and to what. */
export interface OneofSlot {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** Whether values of a field are kept as plain JSON: Struct is, everywhere but inside Value. */
export function keptAsJson(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value";
}

/** Whether a field keeps the bare value of a wrapper message: singular ones outside a oneof do. */
export function keptUnwrapped(field: DescField): boolean {
  return field.fieldKind === "message" && field.oneof === undefined && isWrapperDesc(field.message);
}

/** Whether a field is the list of Any that HttpBody has for historical reasons; it is always empty here. */
export function isUnusedExtensions(field: DescField): boolean {
  return field.parent.typeName === "google.api.HttpBody" && field.name === "extensions";
}

/** The error for a type that has no JSON form here; thrown while compiling, so that no request can meet it. */
export function unsupported(desc: DescMessage): Error {
  return new Error(`${desc.typeName} has no JSON form here`);
}

/** Makes a maker of empty messages: a copy of one that was made before, which costs less than making it anew. */
export function messageMaker(desc: DescMessage): () => Slots {
  const zero = create(desc) as Slots;
  // With explicit presence outside proto3 the defaults sit on the prototype, which a copy would lose.
  if (Object.getPrototypeOf(zero) !== Object.prototype) return () => create(desc) as Slots;
  const lists = desc.fields.filter((field) => field.fieldKind === "list").map((field) => field.localName);
  const maps = desc.fields.filter((field) => field.fieldKind === "map").map((field) => field.localName);
  const oneofs = desc.oneofs.map((oneof) => oneof.localName);
  if (lists.length + maps.length + oneofs.length === 0) return () => ({ ...zero });
  return () => {
    const message: Slots = { ...zero };
    for (const name of lists) message[name] = [];
    for (const name of maps) message[name] = {};
    for (const name of oneofs) message[name] = { case: undefined };
    return message;
  };
}

/** Sets an entry as the object's own, whatever its key: `__proto__` would otherwise reach the prototype. */
export function putOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
