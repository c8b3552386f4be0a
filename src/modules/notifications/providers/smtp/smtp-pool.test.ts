import assert from "node:assert/strict";
import { test } from "node:test";
import { patient } from "../testing/rig.ts";
import { createSmtpPool } from "./smtp-pool.ts";
import type { SmtpSession } from "./smtp-session.ts";

/** A session that is good for any number of mails until it is closed. */
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

test("a session that nobody uses is closed after a while, and never given out again", async () => {
  const pool = createSmtpPool({ idleMs: 5 });
  const kept = session();
  await pool.withSession("a", patient, async (_found, keep) => keep(kept));
  // Timers of a pool hold up no process; this one waits for it.
  const holding = setInterval(() => {}, 1000);
  await kept.closed;
  clearInterval(holding);
  assert.equal(await pool.withSession("a", patient, async (found) => found), undefined);
});

test("sessions are kept apart by server, only so many of them, and all are closed with the pool", async () => {
  const pool = createSmtpPool({ idleMax: 1 });
  const [first, second] = [session(), session()];
  await pool.withSession("a", patient, async (_found, keep) => keep(first));
  assert.equal(await pool.withSession("b", patient, async (found) => found), undefined);
  await pool.withSession("b", patient, async (_found, keep) => keep(second));
  assert.deepEqual([first.usable, second.usable], [true, false]);
  pool.close();
  assert.equal(first.usable, false);
  const late = session();
  await pool.withSession("a", patient, async (_found, keep) => keep(late));
  assert.equal(late.usable, false);
});

test("whoever leaves while waiting for a turn takes nobody else's, and a turn that fails is handed on", async () => {
  const pool = createSmtpPool({ sessionsMax: 1 });
  const { promise: busy, reject: fail } = Promise.withResolvers<never>();
  const first = pool.withSession("a", patient, () => busy);
  const leaving = new AbortController();
  const left = pool.withSession("a", leaving.signal, async () => "served");
  const waiting = pool.withSession("a", patient, async () => "served");
  leaving.abort(new Error("gone"));
  await assert.rejects(left, /gone/);
  fail(new Error("broken"));
  await assert.rejects(first, /broken/);
  assert.equal(await waiting, "served");
  assert.equal(await pool.withSession("a", patient, async () => "again"), "again");
  await assert.rejects(
    pool.withSession("a", leaving.signal, async () => "never"),
    /gone/,
  );
});
