import type { DescMessage } from "@bufbuild/protobuf";
import { createMessageChecker } from "../../platform/validation/index.ts";
import type { Interceptor } from "../call.ts";
import { requireOwnSubscriber } from "./subscriber-access.ts";

/**
 * Step 9: validates the message against the rules in its definition and reports all violations together. The access of
 * subscriber tokens depends on the message, so it is completed here.
 */
export function validation(): Interceptor {
  const checkers = new Map<DescMessage, ReturnType<typeof createMessageChecker>>();
  return (call, next) => {
    const { input } = call.operation.method;
    let check = checkers.get(input);
    if (check === undefined) {
      check = createMessageChecker(input);
      checkers.set(input, check);
    }
    const failure = check(call.message!);
    // Fields that are sent back unchanged need not be valid in a request. The record is read in the transaction.
    if (failure !== undefined && call.returned === undefined) throw failure;
    call.invalid = failure;
    requireOwnSubscriber(call);
    return next(call);
  };
}
