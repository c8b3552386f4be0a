import type { DescField } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { Argument, Option } from "commander";
import { commentOf } from "../../definitions/comments.ts";
import type { Operation } from "../../definitions/index.ts";
import { parseTemplate } from "../../gateway/rest/template.ts";
import { choicesOf, type TextKind, textKindOf } from "./field-text.ts";

/** A request field that is a positional argument: it stands in the path. */
export interface PathArgument {
  readonly name: string;
  readonly argument: Argument;
}

/** A request field that is an option. */
export interface FieldOption {
  readonly field: DescField;
  readonly flag: string;
  /** More than one where a flag can also be switched off. */
  readonly options: readonly Option[];
  /** Whether `@file` and `-` name a source rather than being the value. */
  readonly fromSource: boolean;
}

/** In REST, lists are asked for with other names than in the definitions. */
const pagingFlags: Readonly<Record<string, string>> = { page_size: "limit", page_token: "cursor", skip: "offset" };

/** The path variables of an operation, in their order. */
export function pathArguments({ method, bindings }: Operation): PathArgument[] {
  const names = parseTemplate(bindings[0]!.path).segments.flatMap((each) => ("variable" in each ? each.variable : []));
  return names.map((name) => {
    const field = method.input.fields.find((each) => each.name === name);
    const argument = new Argument(`<${name}>`, field && commentOf(field));
    if (field !== undefined) argument.argChoices = choicesOf(field) as string[] | undefined;
    return { name, argument };
  });
}

/** The other fields of an operation's request. */
export function fieldOptions(operation: Operation): FieldOption[] {
  const inPath = new Set(pathArguments(operation).map(({ name }) => name));
  return operation.method.input.fields
    .filter(({ name }) => !inPath.has(name))
    .map((field) => fieldOption(field, operation.paging === undefined ? field.name : pagingFlags[field.name]));
}

function fieldOption(field: DescField, name = field.name): FieldOption {
  const kind = textKindOf(field);
  const flag = `--${name.replaceAll("_", "-")}`;
  const fromSource = kind === "json" || kind === "value" || isSecret(field);
  const description = [commentOf(field), ...notes(field, kind, fromSource)].join(" ");
  if (kind === "flag" && field.fieldKind !== "list") {
    const options = [new Option(flag, description)];
    // Only where absence means something else than false is there anything to switch off.
    if (field.presence !== FeatureSet_FieldPresence.IMPLICIT)
      options.push(new Option(flag.replace("--", "--no-"), `The opposite of ${flag}.`));
    return { field, flag, options, fromSource: false };
  }
  const option = new Option(`${flag} <${metavariable(kind)}>`, description);
  option.argChoices = choicesOf(field) as string[] | undefined;
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
  if (field.fieldKind === "list") notes.push("Repeatable.");
  if (kind === "time") notes.push("RFC 3339, such as 2027-01-31T12:00:00Z.");
  if (fromSource) notes.push("@file or - reads it from a file or standard input.");
  return notes;
}

function isSecret(field: DescField): boolean {
  return field.proto.options?.debugRedact === true;
}
