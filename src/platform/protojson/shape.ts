import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** The run-time form of a message: an object with a property for each member. */
export type Slots = Message & Record<string, unknown>;

/** The value of a oneof: the member that is set, and its value. */
export interface OneofSlot {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** Whether values of a field are represented as plain JSON. This is the case for Struct, except inside Value. */
export function isStoredAsJson(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value";
}

/** Whether a wrapper field is represented by its bare value. This is the case for singular fields outside a oneof. */
export function isStoredUnwrapped(field: DescField): boolean {
  return field.fieldKind === "message" && field.oneof === undefined && isWrapperDesc(field.message);
}

/** Whether a field is the `extensions` list of HttpBody, which is always empty in this service. */
export function isUnusedExtensions(field: DescField): boolean {
  return field.parent.typeName === "google.api.HttpBody" && field.name === "extensions";
}

/** The error for a type without a supported JSON form; it is thrown at compile time and never during a request. */
export function unsupportedType(desc: DescMessage): Error {
  return new Error(`${desc.typeName} has no supported JSON form`);
}

/** Creates a factory of empty messages. It copies a prototype message, which is cheaper than creating a new one. */
export function createMessageFactory(desc: DescMessage): () => Slots {
  const zero = create(desc) as Slots;
  // With explicit presence outside proto3 the defaults are on the object's prototype, which a copy would lose.
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

/** Sets an own property under any key. A plain assignment to `__proto__` would change the prototype. */
export function putOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
