import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { shortEnumName } from "../operations/field-text.ts";
import { printable } from "./printable.ts";
import { pairsText, tableText } from "./table.ts";

type Json = Readonly<Record<string, unknown>>;

/** The most important columns of a list, in order. */
const prominent = ["id", "time", "key", "name", "display_name", "email", "type", "subject", "status", "mode", "value"];
/** Columns that lists omit, because every record has them. */
const omitted = new Set(["tenant_id", "record_version", "updated_at"]);
const columnsMax = 8;

/** Formats a list as a table with the most important columns, or as separate records if a table does not fit. */
export function listText(desc: DescMessage, items: readonly Json[], width: number): string {
  const columns = columnsOf(desc).filter(({ name }, at) => at === 0 || items.some((item) => cellOf(item[name]) !== ""));
  const shown = Number.isFinite(width) ? columns.slice(0, columnsMax) : columns;
  const rows = items.map((item) => shown.map((field) => fieldText(field, item[field.name])));
  const headings = shown.map(({ name }) => name);
  return tableText(headings, rows, width) ?? blocksText(desc, items, width);
}

/** Formats complete records one below the other. */
function blocksText(desc: DescMessage, items: readonly Json[], width: number): string {
  return items.map((item) => recordText(desc, item, width)).join("\n\n");
}

/** The fields that fit into table cells, the most important first. */
function columnsOf(desc: DescMessage): DescField[] {
  const rank = ({ name, number }: DescField) => {
    const at = prominent.indexOf(name);
    if (name === "created_at") return Number.POSITIVE_INFINITY;
    // A record without an `id` field is identified by its first field.
    if (number === 1 && name.endsWith("_id")) return -1;
    return at < 0 ? prominent.length : at;
  };
  return desc.fields.filter((field) => isFlat(field) && !omitted.has(field.name)).sort((a, b) => rank(a) - rank(b));
}

/** The fields of a one-line record: the most important columns and free-form data. */
export function lineFieldsOf(desc: DescMessage): DescField[] {
  const free = desc.fields.filter((field) => field.message?.typeName === "google.protobuf.Struct");
  const isShown = ({ name }: DescField, at: number) => prominent.includes(name) || (at === 0 && name.endsWith("_id"));
  return [...columnsOf(desc).filter(isShown), ...free];
}

/** Formats a record as names and values. Nested records follow under their names; empty ones are "none". */
export function recordText(desc: DescMessage, record: Json, width: number, indent = ""): string {
  const present = desc.fields.filter(({ name }) => record[name] !== undefined && record[name] !== null);
  const isBlock = (field: DescField) => isNested(field) && !isEmpty(record[field.name]);
  const flat = present.filter((field) => !isBlock(field));
  const blocks: string[] = [];
  if (flat.length > 0) {
    const textOf = (field: DescField) => (isNested(field) ? "none" : fieldText(field, record[field.name]));
    const pairs = flat.map((field) => [field.name, textOf(field)] as const);
    blocks.push(pairsText(pairs, indent));
  }
  for (const field of present.filter(isBlock)) {
    const value = record[field.name];
    const inner = `${indent}  `;
    const text =
      field.fieldKind === "list"
        ? indented(innerListText(field.message!, value as Json[], width - inner.length), inner)
        : recordText(field.message!, value as Json, width, inner);
    blocks.push(`${indent}${field.name}\n${text}`);
  }
  return blocks.join("\n");
}

/** Formats a nested list. Its records are shown separately if a table would omit fields. */
function innerListText(desc: DescMessage, items: readonly Json[], width: number): string {
  const isWhole = items.every((item) => desc.fields.every((field) => isFlat(field) || cellOf(item[field.name]) === ""));
  return isWhole ? listText(desc, items, width) : blocksText(desc, items, width);
}

/** Formats a value on one line. */
export function fieldText(field: DescField, value: unknown): string {
  if (field.enum !== undefined && field.fieldKind !== "map") {
    const names = Array.isArray(value) ? value : [value];
    return names.map((name) => (typeof name === "string" ? shortEnumName(field.enum!, name) : cellOf(name))).join(", ");
  }
  return cellOf(value);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value) && value.every((each) => typeof each !== "object")) return printable(value.join(", "));
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}

function isFlat(field: DescField): boolean {
  if (field.fieldKind === "map") return false;
  const type = field.message?.typeName;
  if (type === undefined || isWrapperDesc(field.message!)) return true;
  return /^google\.protobuf\.(Timestamp|Duration|FieldMask|Value)$/.test(type);
}

/** Whether a field contains records, which are shown separately. */
function isNested(field: DescField): boolean {
  return field.fieldKind !== "map" && field.message !== undefined && !field.message.typeName.startsWith("google.");
}

/** Whether a nested list or record has nothing to show. */
function isEmpty(value: unknown): boolean {
  return Object.keys(value as Json).length === 0;
}

function indented(text: string, indent: string): string {
  return text.replaceAll(/^(?=.)/gm, indent);
}
