import type { DescMessage } from "@bufbuild/protobuf";
import type { Operation } from "../../definitions/index.ts";
import type { Io } from "../io.ts";
import { printable } from "./printable.ts";
import { fieldText, lineFieldsOf, listText, recordText } from "./record-text.ts";

type Json = Readonly<Record<string, unknown>>;

/** The output format: the JSON body, or a table. */
export type Form = "json" | "table";

/** The options of the output format. */
export interface FormOptions {
  readonly json?: boolean;
  readonly table?: boolean;
  readonly wide?: boolean;
}

/** The requested format. The default is a table on a terminal, and JSON otherwise. */
export function resolveForm(io: Io, { json, table, wide }: FormOptions): Form {
  if (json) return "json";
  return table || wide || io.terminal ? "table" : "json";
}

/** The maximum width of tables. */
export function widthOf(io: Io, { wide }: FormOptions): number {
  return wide ? Number.POSITIVE_INFINITY : io.columns;
}

/** Formats a response for stdout, with an optional note for stderr. */
export function responseText(
  operation: Operation,
  contentType: string,
  body: Buffer,
  form: Form,
  width: number,
): { readonly text: string | Buffer; readonly aside: string } {
  // A document of another type, such as a YAML export, is printed unchanged.
  if (!contentType.startsWith("application/json")) return { text: body, aside: "" };
  if (form === "json") return { text: `${body}\n`, aside: "" };
  const response = JSON.parse(body.toString()) as Json;
  const { paging } = operation;
  if (paging === undefined) {
    return { text: ended(recordText(responseDesc(operation), response.data as Json, width)), aside: "" };
  }
  const items = response.data as Json[];
  const next = paging.kind === "numbered" ? nextNumberedPage(response) : nextCursorPage(response);
  return {
    text: items.length === 0 ? "" : ended(listText(paging.items.message!, items, width)),
    aside: `${items.length} of ${response.total_capped === true ? "at least " : ""}${response.total}\n${next === "" ? "" : `Next page: ${next}\n`}`,
  };
}

function nextCursorPage({ has_more, next_cursor }: Json): string {
  return has_more === true ? `--cursor ${printable(String(next_cursor))}` : "";
}

function nextNumberedPage({ page, per_page, total }: Json): string {
  return Number(page) * Number(per_page) < Number(total) ? `--page ${Number(page) + 1}` : "";
}

/** Formats one message of a stream: a line per record. A message whose only field is a list contains many records. */
export function streamLines(operation: Operation, data: string, form: Form): string {
  const desc = responseDesc(operation);
  const [list, ...others] = desc.fields;
  if (list?.fieldKind === "list" && list.message !== undefined && others.length === 0) {
    const { message } = list;
    const records = (JSON.parse(data) as Json)[list.name] as Json[];
    return records
      .map((record) => ended(form === "json" ? JSON.stringify(record) : recordLine(message, record)))
      .join("");
  }
  return ended(form === "json" ? data : recordLine(desc, JSON.parse(data) as Json));
}

function recordLine(desc: DescMessage, record: Json): string {
  const texts = lineFieldsOf(desc).map((field) => fieldText(field, record[field.name]));
  return texts.filter((text) => text !== "").join("  ");
}

function ended(text: string): string {
  return text === "" ? "" : `${text}\n`;
}

/** The type of the REST response: the message, or its response_body field. */
function responseDesc({ method, bindings }: Operation): DescMessage {
  const field = method.output.fields.find(({ name }) => name === bindings[0]!.responseBody);
  return field?.message ?? method.output;
}
