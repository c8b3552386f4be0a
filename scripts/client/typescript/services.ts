import type { DescService } from "@bufbuild/protobuf";
import { methodNames, propertyOf } from "../../../src/definitions/client-names.ts";
import { commentOf } from "../../../src/definitions/comments.ts";
import type { Operation } from "../../../src/definitions/operation.ts";
import { clientOperations, requestFields, resultKind, resultMessage } from "../operations.ts";
import type { Module, TypeWriter } from "../types.ts";
import { docComment } from "./language.ts";

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

function requestType(
  operation: Operation,
  types: TypeWriter,
  module: Module,
): { readonly name: string; readonly hasRequired: boolean } {
  const { input } = operation.method;
  const fields = requestFields(operation, types, module);
  const owner = types.moduleOf(input);
  if (owner !== module) throw new Error(`${input.typeName} is not in the file of its service`);
  types.writeObject(input.name, commentOf(input), fields, module);
  return { name: input.name, hasRequired: fields.some(({ isOptional }) => !isOptional) };
}

function resultType(
  operation: Operation,
  types: TypeWriter,
  module: Module,
): { readonly type: string; readonly generic?: string } {
  const kind = resultKind(operation);
  if (kind === "raw") return { type: "Promise<Response>" };
  const data = types.ofMessage(resultMessage(operation), "response", module);
  if (kind === "record") return { type: `Promise<${data}>` };
  const generic = kind === "stream" ? "EventStream" : "List";
  return { type: `${generic}<${data}>`, generic };
}

function operationLiteral(operation: Operation): string {
  const { verb, path, body } = operation.bindings[0]!;
  const parts = [`verb: "${verb}"`, `path: ${JSON.stringify(path)}`];
  if (body !== "") parts.push(`body: ${JSON.stringify(body)}`);
  const kind = resultKind(operation);
  if (kind !== "record") parts.push(`result: "${kind}"`);
  if (operation.acceptsIdempotencyKey) parts.push("keyed: true");
  return `{ ${parts.join(", ")} }`;
}
