/**
 * Definitions: what the .proto files say, in the form that the surfaces use.
 *
 * operation: a method with its REST bindings, governance and paging.
 */
import { services } from "../../gen/services.ts";
import { type Operation, operationOf } from "./operation.ts";

export type { HttpBinding, Operation, Paging } from "./operation.ts";
export { services };

/** Reads every operation of the API from the definitions. */
export function readOperations(): Operation[] {
  return services.flatMap((service) => service.methods.map((method) => operationOf(service, method)));
}
