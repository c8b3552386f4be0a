import type { DescMessage } from "@bufbuild/protobuf";
import { violated } from "../platform/protojson/index.ts";
import { validator } from "../platform/validation/index.ts";
import type { Interceptor } from "./call.ts";

/** Step 9: the message keeps the rules of its definition, and all that it breaks are named at once. */
export function validation(): Interceptor {
  const validators = new Map<DescMessage, ReturnType<typeof validator>>();
  return (call, next) => {
    const { input } = call.operation.method;
    let validate = validators.get(input);
    if (validate === undefined) {
      validate = validator(input);
      validators.set(input, validate);
    }
    const violations = validate(call.message!);
    if (violations.length > 0) throw violated(violations);
    return next(call);
  };
}
