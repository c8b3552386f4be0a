import type { TestSql } from "../harness/postgres-server.ts";
import { until } from "../harness/until.ts";

/** Makes jobs due and wakes the nodes, which would look for them within a second. */
export async function makeDue(sql: TestSql, kinds: readonly string[]): Promise<void> {
  await sql`
    with due as (
      update jobs set run_at = now() where state = 'ready' and run_at > now() and kind = any(${[...kinds]}) returning id
    )
    select pg_notify('switchyard_wake', 'jobs') from due limit 1`;
}

/** Runs a recurring job once. */
export async function runJob(sql: TestSql, kind: string): Promise<void> {
  // A job that is due has run when it is not due any more. One that is running now may have begun too early.
  await until(async () => {
    const due = await sql`
      update jobs set run_at = now() - interval '1 day' where kind = ${kind} and state = 'ready' returning id`;
    return due.length > 0;
  });
  await sql`select pg_notify('switchyard_wake', 'jobs')`;
  await until(
    () => sql`select run_at > now() as done from jobs where kind = ${kind}`,
    ([row]) => row!.done,
  );
}
