import type { DescService } from "@bufbuild/protobuf";
import { methodNames, propertyOf } from "../../../src/definitions/client-names.ts";
import { commentOf } from "../../../src/definitions/comments.ts";
import type { Operation } from "../../../src/definitions/operation.ts";
import { snakeCase } from "../../../src/platform/text/letter-case.ts";
import { pythonName } from "../../../src/platform/text/python-name.ts";
import { clientOperations, requestFields, resultKind, resultMessage } from "../operations.ts";
import type { Module, TypeWriter } from "../types.ts";
import { docString } from "./language.ts";

/** The classes of a service as source. */
export interface ServiceSource {
  readonly property: string;
  readonly name: string;
  readonly comment: string;
  /** The module of its definition file, whose types it uses. */
  readonly module: Module;
  /** The types of other modules that it uses, by module. */
  readonly imports: ReadonlyMap<string, ReadonlySet<string>>;
  readonly source: string;
}

/** Writes one service: its operations, and its classes for plain and for asyncio programs. */
export function writeService(service: DescService, types: TypeWriter): ServiceSource {
  const module = types.moduleOf(service);
  // Types of the module itself are imported as well, because types and services are separate packages.
  const user: Module = { name: "", imports: new Map(), declarations: new Map() };
  const names = methodNames(service);
  const methods = clientOperations(service).map((operation) => {
    const name = pythonName(names.get(operation.method.name)!);
    const kind = resultKind(operation);
    const data = kind === "raw" ? "RawResponse" : types.ofMessage(resultMessage(operation), "response", user);
    const constant = snakeCase(names.get(operation.method.name)!).toUpperCase();
    const write = (isAsync: boolean) => writeMethod({ operation, name, constant, data, kind, isAsync }, types, user);
    return { literal: `${constant} = ${operationLiteral(operation)}\n`, plain: write(false), async: write(true) };
  });
  const comment = commentOf(service);
  const classOf = (name: string, base: string, sources: readonly string[]) =>
    `class ${name}(${base}):\n${docString(comment, "    ")}\n${sources.join("\n")}`;
  const source = [
    methods.map(({ literal }) => literal).join(""),
    classOf(
      service.name,
      "Service",
      methods.map(({ plain }) => plain),
    ),
    classOf(
      `Async${service.name}`,
      "AsyncService",
      methods.map(({ async }) => async),
    ),
  ].join("\n\n");
  return {
    property: snakeCase(propertyOf(service)),
    name: service.name,
    comment,
    module,
    imports: user.imports,
    source,
  };
}

interface Method {
  readonly operation: Operation;
  readonly name: string;
  readonly constant: string;
  readonly data: string;
  readonly kind: ReturnType<typeof resultKind>;
  readonly isAsync: boolean;
}

function writeMethod(
  { operation, name, constant, data, kind, isAsync }: Method,
  types: TypeWriter,
  user: Module,
): string {
  const fields = requestFields(operation, types, user);
  const parameters = fields.map((field) => {
    const parameter = pythonName(field.name);
    return `        ${parameter}: ${field.type}${field.isOptional ? " | None = None" : ""},\n`;
  });
  const isList = kind === "cursor" || kind === "numbered";
  const result = isList
    ? `${isAsync ? "Async" : ""}PagedList[${data}]`
    : kind === "stream"
      ? `${isAsync ? "Async" : ""}EventStream[${data}]`
      : data;
  const awaits = isAsync && !isList && kind !== "stream";
  const send = !isAsync ? "self._call" : awaits ? "await self._call" : isList ? "self._list" : "self._stream";
  const remarks = fields.map((field) => `        ${pythonName(field.name)}: ${field.comment}\n`);
  return `    ${awaits ? "async " : ""}def ${name}(
        self,
        *,
${parameters.join("")}        call: CallOptions | None = None,
    ) -> ${result}:
${methodDoc(commentOf(operation.method), remarks)}        return ${send}(${constant}, locals())
`;
}

function methodDoc(comment: string, fields: readonly string[]): string {
  if (fields.length === 0) return docString(comment, "        ");
  return docString(`\n        ${comment}\n\n${fields.join("")}        `, "        ");
}

function operationLiteral(operation: Operation): string {
  const { verb, path, body } = operation.bindings[0]!;
  const parts = [JSON.stringify(verb), JSON.stringify(path)];
  if (body !== "") parts.push(`body=${JSON.stringify(body)}`);
  const kind = resultKind(operation);
  if (kind !== "record") parts.push(`result="${kind}"`);
  if (operation.acceptsIdempotencyKey) parts.push("keyed=True");
  return `Operation(${parts.join(", ")})`;
}
