import type { DescMessage, DescService } from "@bufbuild/protobuf";
import { type Operation, operationOf, restNameOf } from "../../src/definitions/operation.ts";
import type { Module, ObjectField, TypeWriter } from "./types.ts";

/** The operations of a service that its clients can call. */
export function clientOperations(service: DescService): Operation[] {
  return service.methods
    .map((method) => operationOf(service, method))
    .filter(({ governance }) => !governance.internalOnly);
}

/** The fields of a request, with their names in REST. */
export function requestFields(
  { method, bindings, paging }: Operation,
  types: TypeWriter,
  module: Module,
): readonly ObjectField[] {
  const inPath = new Set([...bindings[0]!.path.matchAll(/\{([a-z0-9_]+)\}/g)].map((match) => match[1]!));
  return method.input.fields.map((field) => {
    const plain = types.toObjectField(field, "request", module);
    return {
      ...plain,
      name: paging?.kind === "cursor" ? restNameOf(field.name) : field.name,
      isOptional: plain.isOptional && !inPath.has(field.name),
    };
  });
}

/** The message that a call returns as data. */
export function resultMessage({ method, paging, bindings }: Operation): DescMessage {
  if (paging !== undefined) return paging.items.message!;
  return method.output.fields.find(({ name }) => name === bindings[0]!.responseBody)?.message ?? method.output;
}

/** What a call returns: one record, a list, a stream or a raw response. */
export function resultKind(operation: Operation): "record" | "cursor" | "numbered" | "stream" | "raw" {
  if (resultMessage(operation).typeName === "google.api.HttpBody") return "raw";
  return operation.paging?.kind ?? (operation.streaming ? "stream" : "record");
}
