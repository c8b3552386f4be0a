import assert from "node:assert/strict";
import { test } from "node:test";
import { neverAborted } from "../testing/provider-fixture.ts";
import { createSmtpPool } from "./smtp-pool.ts";
import type { SmtpSession } from "./smtp-session.ts";

/** A session that is usable until it is closed. */
function session(): SmtpSession & { readonly closed: Promise<void> } {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let usable = true;
  return {
    closed,
    get usable() {
      return usable;
    },
    open: async () => undefined,
    send: async () => undefined,
    close() {
      usable = false;
      resolve();
    },
  };
}

test("an idle session is closed after its idle time and never reused", async () => {
  const pool = createSmtpPool({ idleMs: 5 });
  const idle = session();
  await pool.withSession("a", neverAborted, async (_found, release) => release(idle));
  // The pool's timers are unreferenced, so keep the process alive until the session is closed.
  const holding = setInterval(() => {}, 1000);
  await idle.closed;
  clearInterval(holding);
  assert.equal(await pool.withSession("a", neverAborted, async (found) => found), undefined);
});

test("idle sessions are separated by server, limited in number, and closed with the pool", async () => {
  const pool = createSmtpPool({ idleMax: 1 });
  const [first, second] = [session(), session()];
  await pool.withSession("a", neverAborted, async (_found, release) => release(first));
  assert.equal(await pool.withSession("b", neverAborted, async (found) => found), undefined);
  await pool.withSession("b", neverAborted, async (_found, release) => release(second));
  assert.deepEqual([first.usable, second.usable], [true, false]);
  pool.close();
  assert.equal(first.usable, false);
  const late = session();
  await pool.withSession("a", neverAborted, async (_found, release) => release(late));
  assert.equal(late.usable, false);
});

test("a caller that cancels while waiting takes no slot, and the slot of a failed caller is passed on", async () => {
  const pool = createSmtpPool({ sessionsMax: 1 });
  const { promise: busy, reject: fail } = Promise.withResolvers<never>();
  const first = pool.withSession("a", neverAborted, () => busy);
  const controller = new AbortController();
  const abandoned = pool.withSession("a", controller.signal, async () => "served");
  const waiting = pool.withSession("a", neverAborted, async () => "served");
  controller.abort(new Error("cancelled"));
  await assert.rejects(abandoned, /cancelled/);
  fail(new Error("broken"));
  await assert.rejects(first, /broken/);
  assert.equal(await waiting, "served");
  assert.equal(await pool.withSession("a", neverAborted, async () => "again"), "again");
  await assert.rejects(
    pool.withSession("a", controller.signal, async () => "never"),
    /cancelled/,
  );
});
