import type { CaseContext, Json } from "../../sandbox/index.ts";

/** Sends a create twice with one idempotency key, then another create with the key, and checks that only the first counts. */
export async function createTwice(
  context: CaseContext,
  path: string,
  body: object,
  otherFields: object,
  idOf: (data: Json) => string | undefined,
): Promise<void> {
  const create = (fields: object) =>
    context.send("POST", path, { body: fields, headers: { "idempotency-key": context.name() } });
  const first = await create(body);
  const repeated = await create(body);
  context.expect("the first request succeeds", first.status < 300, true);
  context.expect("the repeated request succeeds", repeated.status < 300, true);
  context.expect("it is the same record", idOf(first.body?.data) === idOf(repeated.body?.data), true);
  context.expect("the response says that it is a repeat", repeated.header("idempotency-replayed"), "true");
  const other = await create({ ...body, ...otherFields });
  context.expect("another request with the key", other.code, "IDEMPOTENCY_KEY_REUSED");
}
