import { Failure, invalid } from "../../../../errors/index.ts";

/** Names the field of an invalid profile by its path in the request; other errors stay as they are. */
export function withinSubscriber<E>(error: E): E | Failure {
  const [violation] = error instanceof Failure ? error.violations : [];
  return violation === undefined ? error : invalid(`subscriber.${violation.field}`, violation.rule, violation.message);
}
