import type { DescMessage, DescService } from "@bufbuild/protobuf";
import { methodNames, propertyOf } from "../../src/definitions/client-names.ts";
import { commentOf } from "../../src/definitions/comments.ts";
import { type Operation, operationOf } from "../../src/definitions/operation.ts";
import { docComment } from "./names.ts";
import type { Module, ObjectField, TypeWriter } from "./types.ts";

/** A service as source: its interface, its operations and its factory. */
export interface ServiceSource {
  readonly property: string;
  readonly interfaceName: string;
  readonly factoryName: string;
  readonly module: Module;
  readonly source: string;
  /** The kinds of results that its methods return besides promises. */
  readonly resultTypes: ReadonlySet<string>;
}

/** The operations of a service that its clients can call. */
export function clientOperations(service: DescService): Operation[] {
  return service.methods
    .map((method) => operationOf(service, method))
    .filter(({ governance }) => !governance.internalOnly);
}

/** Writes one service. */
export function writeService(service: DescService, types: TypeWriter): ServiceSource {
  const module = types.moduleOf(service);
  const names = methodNames(service);
  const operations = clientOperations(service);
  const resultTypes = new Set<string>();
  const methods = operations.map((operation) => {
    const request = requestType(operation, types, module);
    const { type, generic } = resultType(operation, types, module);
    if (generic !== undefined) resultTypes.add(generic);
    const parameter = request.hasRequired ? `request: ${request.name}` : `request?: ${request.name}`;
    return (
      docComment(commentOf(operation.method), "  ") +
      `  ${names.get(operation.method.name)}(${parameter}, options?: CallOptions): ${type};\n`
    );
  });
  const interfaceName = service.name;
  const factoryName = `create${service.name}`;
  const table = operations.map(
    (operation) => `  ${names.get(operation.method.name)}: ${operationLiteral(operation)},\n`,
  );
  const source = `${docComment(commentOf(service))}export interface ${interfaceName} {
${methods.join("\n")}}

const ${tableName(service)} = {
${table.join("")}} as const satisfies Record<keyof ${interfaceName}, Operation>;

/** Creates the service over a transport. */
export function ${factoryName}(transport: Transport): ${interfaceName} {
  return bindOperations<${interfaceName}>(transport, ${tableName(service)});
}
`;
  return { property: propertyOf(service), interfaceName, factoryName, module, source, resultTypes };
}

function tableName({ name }: DescService): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}Operations`;
}

/** REST names of the paging fields of cursor lists. */
const pagingNames: Readonly<Record<string, string>> = { page_size: "limit", page_token: "cursor", skip: "offset" };

function requestType(
  { method, bindings, paging }: Operation,
  types: TypeWriter,
  module: Module,
): { readonly name: string; readonly hasRequired: boolean } {
  const { input } = method;
  const inPath = new Set([...bindings[0]!.path.matchAll(/\{([a-z0-9_]+)\}/g)].map((match) => match[1]!));
  const fields = input.fields.map((field): ObjectField => {
    const plain = types.toObjectField(field, "request", module);
    return {
      ...plain,
      name: paging?.kind === "cursor" ? (pagingNames[field.name] ?? field.name) : field.name,
      isOptional: plain.isOptional && !inPath.has(field.name),
    };
  });
  const owner = types.moduleOf(input);
  if (owner !== module) throw new Error(`${input.typeName} is not in the file of its service`);
  types.writeObject(input.name, commentOf(input), fields, module);
  return { name: input.name, hasRequired: fields.some(({ isOptional }) => !isOptional) };
}

/** The message that a call returns as data. */
export function resultMessage({ method, paging, bindings }: Operation): DescMessage {
  if (paging !== undefined) return paging.items.message!;
  return method.output.fields.find(({ name }) => name === bindings[0]!.responseBody)?.message ?? method.output;
}

function resultType(
  operation: Operation,
  types: TypeWriter,
  module: Module,
): { readonly type: string; readonly generic?: string } {
  const message = resultMessage(operation);
  if (isRaw(message)) return { type: "Promise<Response>" };
  const data = types.ofMessage(message, "response", module);
  if (operation.paging !== undefined) return { type: `List<${data}>`, generic: "List" };
  if (operation.streaming) return { type: `EventStream<${data}>`, generic: "EventStream" };
  return { type: `Promise<${data}>` };
}

function isRaw(message: DescMessage): boolean {
  return message.typeName === "google.api.HttpBody";
}

function operationLiteral(operation: Operation): string {
  const { verb, path, body } = operation.bindings[0]!;
  const parts = [`verb: "${verb}"`, `path: ${JSON.stringify(path)}`];
  if (body !== "") parts.push(`body: ${JSON.stringify(body)}`);
  if (isRaw(resultMessage(operation))) parts.push(`result: "raw"`);
  else if (operation.paging !== undefined) parts.push(`result: "${operation.paging.kind}"`);
  else if (operation.streaming) parts.push(`result: "stream"`);
  if (operation.acceptsIdempotencyKey) parts.push("keyed: true");
  return `{ ${parts.join(", ")} }`;
}
