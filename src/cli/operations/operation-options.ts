import { type AnyDesc, type DescField, getOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { Argument, Option } from "commander";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.ts";
import type { Operation } from "../../definitions/index.ts";
import { isRequired } from "../../gateway/openapi/schemas/rules.ts";
import { parseTemplate } from "../../gateway/rest/template.ts";
import { listChoices, type TextKind, textKindOf } from "./field-text.ts";

/** A request field that is a positional argument, because it is in the path. */
export interface PathArgument {
  readonly name: string;
  readonly argument: Argument;
}

/** A request field that is an option. */
export interface FieldOption {
  readonly field: DescField;
  readonly flag: string;
  /** Two for a flag with a `--no-` form, otherwise one. */
  readonly options: readonly Option[];
  /** Whether `@file` and `-` are read as a file and stdin. */
  readonly fromSource: boolean;
}

/** Returns the description of a declaration, for the help. */
export type Describe = (desc: AnyDesc) => string;

/** Leaves out descriptions. Reading them takes longer than everything else in the options of a command. */
export const undescribed: Describe = () => "";

/** REST names of the paging fields. */
const pagingFlags: Readonly<Record<string, string>> = { page_size: "limit", page_token: "cursor", skip: "offset" };

const documentBytesMin = 64 * 1024;

/** The path variables of an operation, in order. */
export function pathArguments({ method, bindings }: Operation, describe = undescribed): PathArgument[] {
  const names = parseTemplate(bindings[0]!.path).segments.flatMap((each) => ("variable" in each ? each.variable : []));
  return names.map((name) => {
    const field = method.input.fields.find((each) => each.name === name);
    const argument = new Argument(`<${name}>`, field && describe(field));
    if (field !== undefined) argument.argChoices = listChoices(field) as string[] | undefined;
    return { name, argument };
  });
}

/** The other fields of an operation's request. */
export function fieldOptions(operation: Operation, describe = undescribed): FieldOption[] {
  const inPath = new Set(pathArguments(operation).map(({ name }) => name));
  return operation.method.input.fields
    .filter(({ name }) => !inPath.has(name))
    .map((field) =>
      fieldOption(field, describe, operation.paging === undefined ? field.name : pagingFlags[field.name]),
    );
}

function fieldOption(field: DescField, describe: Describe, name = field.name): FieldOption {
  const kind = textKindOf(field);
  const flag = `--${name.replaceAll("_", "-")}`;
  const fromSource = kind === "json" || kind === "value" || isSecret(field) || isDocument(field);
  const isMarked = describe !== undescribed && isRequired(field);
  const description = [describe(field), ...(isMarked ? ["Required."] : []), ...notes(field, kind, fromSource)].join(
    " ",
  );
  if (kind === "flag" && field.fieldKind !== "list") {
    const options = [new Option(flag, description)];
    // A flag without presence is false by default and needs no `--no-` form.
    if (field.presence !== FeatureSet_FieldPresence.IMPLICIT)
      options.push(new Option(flag.replace("--", "--no-"), `Set ${flag.slice(2)} to false.`));
    return { field, flag, options, fromSource: false };
  }
  const option = new Option(`${flag} <${metavariable(kind)}>`, description);
  option.argChoices = listChoices(field) as string[] | undefined;
  if (field.fieldKind === "list") {
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  }
  return { field, flag, options: [option], fromSource };
}

function metavariable(kind: TextKind): string {
  return kind === "value" ? "json" : kind;
}

function notes(field: DescField, kind: TextKind, fromSource: boolean): string[] {
  const notes: string[] = [];
  if (field.fieldKind === "list")
    notes.push(kind === "json" ? "An object or a list; can be repeated." : "Can be repeated.");
  if (kind === "time") notes.push("RFC 3339 (for example: 2027-01-31T12:00:00Z).");
  if (fromSource) notes.push("@file reads a file, - reads stdin.");
  return notes;
}

/** Whether a text can be so long that it is kept in a file. */
function isDocument(field: DescField): boolean {
  const { type } = getOption(field, fieldRules);
  return type.case === "string" && type.value.maxBytes >= documentBytesMin;
}

function isSecret(field: DescField): boolean {
  return field.proto.options?.debugRedact === true;
}
