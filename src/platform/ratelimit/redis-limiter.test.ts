import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis } from "ioredis";
import { startRedis, whyNoRedis } from "../../../test/harness/redis.ts";
import { until } from "../../../test/harness/until.ts";
import { Failure } from "../../errors/index.ts";
import { createRedisLimiter, type RedisLimiter, type RedisLimiterSettings } from "./redis-limiter.ts";

const peer = await startRedis();
const slow = { rps: 0.001, burst: 10 };

let keys = 0;
const freshKey = (): string => `key ${++keys}`;

// A test on a real Redis; its limiters are always closed. The command timeout is generous, because the machine may be busy.
function redisTest(
  name: string,
  body: (open: (more?: Partial<RedisLimiterSettings>) => Promise<RedisLimiter>) => Promise<void>,
) {
  test(name, async (t) => {
    if (peer === undefined) return t.skip(whyNoRedis());
    const limiters: RedisLimiter[] = [];
    try {
      await body(async (more) => {
        const limiter = createRedisLimiter({ url: peer.url, failMode: "open", commandTimeoutMs: 10_000, ...more });
        limiters.push(limiter);
        await limiter.ping();
        return limiter;
      });
    } finally {
      for (const limiter of limiters) await limiter.close();
    }
  });
}

redisTest("a burst is allowed, and the next call receives its waiting time", async (open) => {
  const limiter = await open();
  const key = freshKey();
  const rate = { rps: 0.01, burst: 3 };
  const startedMs = performance.now();
  assert.deepEqual(await limiter.take(key, 1, rate), {
    allowed: true,
    limit: 3,
    remaining: 2,
    retryAfterS: 0,
    waitMs: 0,
    resetS: 100,
  });
  const { resetS: emptyS, ...last } = await limiter.take(key, 2, rate);
  assert.deepEqual(last, { allowed: true, limit: 3, remaining: 0, retryAfterS: 0, waitMs: 0 });
  const { waitMs, retryAfterS, resetS, ...refused } = await limiter.take(key, 1, rate);
  assert.deepEqual(refused, { allowed: false, limit: 3, remaining: 0 });
  // The bucket refills while the test runs, but the test takes far less time than one token.
  const elapsedMs = performance.now() - startedMs;
  assert.ok(waitMs <= 100_000 && waitMs >= 100_000 - elapsedMs, `${waitMs} ms after ${elapsedMs} ms`);
  assert.equal(retryAfterS, Math.ceil(waitMs / 1000));
  for (const each of [emptyS, resetS]) assert.ok(each <= 300 && each >= 300 - elapsedMs / 1000, `${each} s`);
});

redisTest(
  "two limiters on one Redis share a bucket, and concurrent calls are granted exactly the burst",
  async (open) => {
    const [one, two] = [await open(), await open()];
    const key = freshKey();
    const storm = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : two).take(key, 1, slow));
    const verdicts = await Promise.all(storm);
    assert.equal(verdicts.filter(({ allowed }) => allowed).length, slow.burst);
    assert.equal(verdicts.filter(({ degraded }) => degraded).length, 0);
  },
);

redisTest("tokens are refilled by the clock of Redis", async (open) => {
  const limiter = await open();
  const key = freshKey();
  const rate = { rps: 20, burst: 1 };
  assert.equal((await limiter.take(key, 1, rate)).allowed, true);
  // On a busy machine a token may be refilled before the next call.
  await until(async () => !(await limiter.take(key, 1, rate)).allowed);
  await until(async () => (await limiter.take(key, 1, rate)).allowed);
});

redisTest("a bucket's key expires when the bucket is full, and a call without cost creates none", async (open) => {
  const limiter = await open({ prefix: "expiry:" });
  const direct = new Redis(peer!.url);
  try {
    const startedMs = performance.now();
    await limiter.take("slow", 1, slow);
    const ttlMs = await direct.pttl("expiry:slow");
    const fullMs = 1_000_000;
    assert.ok(ttlMs <= fullMs + 2 && ttlMs > fullMs - 2 - (performance.now() - startedMs), `${ttlMs} ms`);
    assert.match((await direct.get("expiry:slow"))!, /^\d{16}$/, "to the microsecond");
    await limiter.take("free", 0, slow);
    assert.equal(await direct.exists("expiry:free"), 0);
    await limiter.take("fast", 1, { rps: 10, burst: 10 });
    await until(async () => (await direct.exists("expiry:fast")) === 0);
  } finally {
    direct.disconnect();
  }
});

redisTest(
  "a bucket too far in the future, as after a clock was set back, counts as empty and refills from now",
  async (open) => {
    const limiter = await open({ prefix: "future:", failMode: "closed" });
    const direct = new Redis(peer!.url);
    try {
      await direct.set("future:k", String((Date.now() + 3_600_000) * 1000));
      const rate = { rps: 20, burst: 2 };
      assert.equal((await limiter.take("k", 1, rate)).allowed, false);
      await until(async () => (await limiter.take("k", 1, rate)).allowed);
    } finally {
      direct.disconnect();
    }
  },
);

redisTest("a Redis that lost its scripts is used again without a failure", async (open) => {
  const limiter = await open({ failMode: "closed" });
  const direct = new Redis(peer!.url);
  try {
    await direct.script("FLUSH");
    assert.equal((await limiter.take(freshKey(), 1, slow)).allowed, true);
  } finally {
    direct.disconnect();
  }
});

redisTest(
  "when Redis is killed, fail mode open allows calls as degraded, closed rejects them, and both recover by themselves",
  async (open) => {
    const [lenient, strict] = [await open({ failMode: "open" }), await open({ failMode: "closed" })];
    const key = freshKey();
    assert.equal((await lenient.take(key, 10, slow)).allowed, true);
    assert.equal((await strict.take(key, 1, slow)).allowed, false);
    await peer!.kill();
    try {
      const verdict = await lenient.take(key, 1, slow);
      assert.deepEqual(verdict, {
        allowed: true,
        limit: 10,
        remaining: 10,
        retryAfterS: 0,
        waitMs: 0,
        resetS: 0,
        degraded: true,
      });
      await assert.rejects(strict.take(key, 1, slow), (error: unknown) => {
        return error instanceof Failure && error.code === "UNAVAILABLE" && error.cause instanceof Error;
      });
      await assert.rejects(lenient.ping(), /isn't writeable|connection is closed/i);
    } finally {
      await peer!.start();
    }
    await until(async () => (await lenient.take(key, 1, slow)).degraded === undefined);
    await until(async () =>
      strict.take(key, 1, slow).then(
        () => true,
        () => false,
      ),
    );
  },
);

redisTest("an unresponsive Redis delays one call by about 100 ms, and the following calls not at all", async (open) => {
  const errors: Error[] = [];
  let nowMs = 0;
  const limiter = await open({
    clock: { now: () => nowMs },
    onError: (error) => errors.push(error),
    commandTimeoutMs: undefined,
  });
  peer!.freeze();
  try {
    assert.equal((await limiter.take(freshKey(), 1, slow)).degraded, true);
    // The command timed out. It did not wait for the 2 s after which an unresponsive connection is closed.
    assert.deepEqual(
      errors.map(({ message }) => message),
      ["Command timed out"],
    );
    for (let n = 0; n < 1000; n++) assert.equal((await limiter.take(freshKey(), 1, slow)).degraded, true);
    assert.equal(errors.length, 1, "no call used Redis during the pause");
  } finally {
    peer!.thaw();
  }
  await until(async () => {
    nowMs += 1000;
    return (await limiter.take(freshKey(), 1, slow)).degraded === undefined;
  });
});

redisTest("a limiter whose Redis was never reachable applies its fail mode immediately", async () => {
  const limiter = createRedisLimiter({ url: "/nonexistent/redis.sock", failMode: "closed" });
  try {
    await assert.rejects(
      limiter.take("k", 1, slow),
      (error: unknown) => error instanceof Failure && error.code === "UNAVAILABLE",
    );
    await assert.rejects(limiter.ping(), /The connection to Redis failed/);
  } finally {
    await limiter.close();
  }
});

test.after(() => peer?.stop());
