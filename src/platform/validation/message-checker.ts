import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Failure } from "../../errors/index.ts";
import { violated } from "../protojson/index.ts";
import { validator } from "./validator.ts";

/**
 * Makes the function that finds why a message of a type is refused; undefined for a valid message.
 *
 * The chain checks every request with it. A batch that answers with a result per item leaves its items out of the request's
 * rules (`items: {ignore: IGNORE_ALWAYS}`), and its handler checks each item with it.
 */
export function createMessageChecker(desc: DescMessage): (message: Message) => Failure | undefined {
  const validate = validator(desc);
  return (message) => {
    const violations = validate(message);
    return violations.length === 0 ? undefined : violated(violations);
  };
}
