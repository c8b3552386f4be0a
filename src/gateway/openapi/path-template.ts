import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** A REST path with the request fields of its variables. */
export interface PathTemplate {
  /** The path in OpenAPI's syntax: `/api/tenants/{tenant_id}`. */
  readonly path: string;
  readonly variables: readonly { readonly name: string; readonly field: DescField }[];
}

/** Converts a path template of google.api.http. A variable's pattern (`{name=pools/*}`) is dropped. */
export function toPathTemplate(template: string, input: DescMessage): PathTemplate {
  const variables: { name: string; field: DescField }[] = [];
  const path = template.replace(/\{([^}=]+)(?:=[^}]*)?\}/g, (_, name: string) => {
    variables.push({ name, field: fieldAt(input, name, template) });
    return `{${name}}`;
  });
  return { path, variables };
}

function fieldAt(input: DescMessage, name: string, template: string): DescField {
  let message: DescMessage | undefined = input;
  let found: DescField | undefined;
  for (const part of name.split(".")) {
    found = message?.fields.find((field) => field.name === part);
    message = found?.message;
  }
  if (found === undefined) throw new Error(`${template}: ${input.typeName} has no field ${name}`);
  return found;
}
