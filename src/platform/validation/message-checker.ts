import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Failure } from "../../errors/index.ts";
import { toViolationFailure } from "../protojson/index.ts";
import { createValidator } from "./validator.ts";

/**
 * Creates a function that returns the failure of an invalid message, or undefined for a valid one.
 *
 * The request chain checks every request with it. A batch request with a result per item excludes its items from the request's
 * rules (`items: {ignore: IGNORE_ALWAYS}`), and its handler checks each item with this function.
 */
export function createMessageChecker(desc: DescMessage): (message: Message) => Failure | undefined {
  let validate: ReturnType<typeof createValidator> | undefined;
  return (message) => {
    validate ??= createValidator(desc);
    const violations = validate(message);
    return violations.length === 0 ? undefined : toViolationFailure(violations);
  };
}
