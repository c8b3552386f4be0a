import type { DescMessage } from "@bufbuild/protobuf";
import type { Operation } from "../../definitions/index.ts";
import type { Io } from "../io.ts";
import { printable } from "./printable.ts";
import { fieldText, lineFieldsOf, listText, recordText } from "./record-text.ts";

type Json = Readonly<Record<string, unknown>>;

/** How answers are written: the exact body, or laid out for people. */
export type Form = "json" | "table";

/** What a command line says about the form. */
export interface FormOptions {
  readonly json?: boolean;
  readonly table?: boolean;
  readonly wide?: boolean;
}

/** The form that was asked for; else people at a terminal get tables, and programs the body. */
export function formOf(io: Io, { json, table, wide }: FormOptions): Form {
  if (json) return "json";
  return table || wide || io.terminal ? "table" : "json";
}

/** How wide tables may be. */
export function widthOf(io: Io, { wide }: FormOptions): number {
  return wide ? Number.POSITIVE_INFINITY : io.columns;
}

/** The answer of an operation, as it is written, and what there is to say beside it. */
export function answerText(
  operation: Operation,
  contentType: string,
  body: Buffer,
  form: Form,
  width: number,
): { readonly text: string | Buffer; readonly aside: string } {
  // A document of another kind, such as a YAML export, is the whole answer.
  if (!contentType.startsWith("application/json")) return { text: body, aside: "" };
  if (form === "json") return { text: `${body}\n`, aside: "" };
  const answer = JSON.parse(body.toString()) as Json;
  const { paging } = operation;
  if (paging === undefined) {
    return { text: ended(recordText(answeredDesc(operation), answer.data as Json, width)), aside: "" };
  }
  const items = answer.data as Json[];
  const more = answer.has_more === true ? `Go on with --cursor ${printable(String(answer.next_cursor))}\n` : "";
  return {
    text: items.length === 0 ? "" : ended(listText(paging.items.message!, items, width)),
    aside: `${items.length} of ${answer.total_capped === true ? "at least " : ""}${answer.total}\n${more}`,
  };
}

/** One record of a stream, as one line. */
export function streamedText(operation: Operation, data: string, form: Form): string {
  if (form === "json") return ended(data);
  const record = JSON.parse(data) as Json;
  const texts = lineFieldsOf(answeredDesc(operation)).map((field) => fieldText(field, record[field.name]));
  return ended(texts.filter((text) => text !== "").join("  "));
}

function ended(text: string): string {
  return text === "" ? "" : `${text}\n`;
}

/** What REST answers with: the response, or the one field of it that the definition names. */
function answeredDesc({ method, bindings }: Operation): DescMessage {
  const field = method.output.fields.find(({ name }) => name === bindings[0]!.responseBody);
  return field?.message ?? method.output;
}
