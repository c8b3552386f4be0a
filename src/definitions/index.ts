/**
 * Definitions: the API as declared in the .proto files, in the form that the protocols use.
 *
 * Operation: an RPC method with its REST bindings, governance options and paging.
 */
import { services } from "../../gen/services.ts";
import { type Operation, operationOf } from "./operation.ts";

export { createEndpointOperation } from "./endpoint-operation.ts";
export { type HttpBinding, type Operation, type Paging, pagingNames, restNameOf } from "./operation.ts";
export { findUpdatedRecord, isObserved, type RenamedField, type UpdatedRecord } from "./updated-record.ts";
export { services };

let operations: readonly Operation[] | undefined;

/** Reads all operations of the API from the definitions, once per process. */
export function readOperations(): readonly Operation[] {
  operations ??= services.flatMap((service) => service.methods.map((method) => operationOf(service, method)));
  return operations;
}
