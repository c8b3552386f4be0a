import type { DescMessage } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import type { Io } from "./io.ts";
import { columnsOf, fieldText, listText, recordText } from "./record-text.ts";

type Json = Readonly<Record<string, unknown>>;

/** How answers are written: the exact body, or laid out for people. */
export type Form = "json" | "table";

/** The form that was asked for; else people at a terminal get tables, and programs the body. */
export function formOf(io: Io, { json, table }: { json?: boolean; table?: boolean }): Form {
  if (json) return "json";
  return table || io.terminal ? "table" : "json";
}

/** Writes the answer of an operation. */
export function writeAnswer(io: Io, operation: Operation, contentType: string, body: Buffer, form: Form): void {
  // A document of another kind, such as a YAML export, is the whole answer.
  if (!contentType.startsWith("application/json")) return io.out(body);
  if (form === "json") return io.out(`${body}\n`);
  const answer = JSON.parse(body.toString()) as Json;
  const { paging } = operation;
  if (paging === undefined) {
    const text = recordText(answeredDesc(operation), answer.data as Json, io.columns);
    return io.out(text === "" ? "" : `${text}\n`);
  }
  const items = answer.data as Json[];
  if (items.length > 0) io.out(`${listText(paging.items.message!, items, io.columns)}\n`);
  io.err(`${items.length} of ${answer.total}\n`);
  if (answer.has_more === true) io.err(`Go on with --cursor ${answer.next_cursor}\n`);
}

/** Writes one record of a stream as one line. */
export function writeStreamed(io: Io, operation: Operation, data: string, form: Form): void {
  if (form === "json") return io.out(`${data}\n`);
  const desc = answeredDesc(operation);
  const record = JSON.parse(data) as Json;
  const flat = columnsOf(desc);
  // What a table has no room for, a line ends with.
  const free = desc.fields.filter((field) => field.message?.typeName === "google.protobuf.Struct");
  const texts = [...flat, ...free].map((field) => fieldText(field, record[field.name]));
  io.out(`${texts.filter((text) => text !== "").join("  ")}\n`);
}

/** What REST answers with: the response, or the one field of it that the definition names. */
function answeredDesc({ method, bindings }: Operation): DescMessage {
  const field = method.output.fields.find(({ name }) => name === bindings[0]!.responseBody);
  return field?.message ?? method.output;
}
