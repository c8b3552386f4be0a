import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { createJsonDecoder } from "../protojson/index.ts";
import { createMessageChecker } from "./message-checker.ts";

/**
 * Creates a function that reads JSON as a request, like the REST API reads a body: fields by their names in the definition,
 * then the rules of the definition. It throws INVALID_ARGUMENT with all violations.
 */
export function createRequestReader<Desc extends DescMessage>(desc: Desc): (json: unknown) => MessageShape<Desc> {
  const decode = createJsonDecoder(desc);
  const check = createMessageChecker(desc);
  return (json) => {
    const message = decode(json, { strict: true });
    const failure = check(message);
    if (failure !== undefined) throw failure;
    return message;
  };
}
