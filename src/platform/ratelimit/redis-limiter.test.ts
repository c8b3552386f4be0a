import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis } from "ioredis";
import { startRedis, whyNoRedis } from "../../../test/harness/redis.ts";
import { Failure } from "../../errors/index.ts";
import { type RedisLimiter, type RedisLimiterSettings, redisLimiter } from "./redis-limiter.ts";

const peer = await startRedis();
const slow = { rps: 0.001, burst: 10 };

let keys = 0;
const freshKey = (): string => `key ${++keys}`;

// A test on the real Redis, with limiters that are closed whatever happens.
function redisTest(
  name: string,
  body: (open: (more?: Partial<RedisLimiterSettings>) => Promise<RedisLimiter>) => Promise<void>,
) {
  test(name, async (t) => {
    if (peer === undefined) return t.skip(whyNoRedis());
    const limiters: RedisLimiter[] = [];
    try {
      await body(async (more) => {
        const limiter = redisLimiter({ url: peer.url, failMode: "open", ...more });
        limiters.push(limiter);
        await limiter.ping();
        return limiter;
      });
    } finally {
      for (const limiter of limiters) await limiter.close();
    }
  });
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  while (!(await condition())) {
    assert.ok(Date.now() < deadlineMs, "the condition never came");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

redisTest("a burst passes, the next call is told when to come back", async (open) => {
  const limiter = await open();
  const key = freshKey();
  const rate = { rps: 0.5, burst: 3 };
  assert.deepEqual(await limiter.take(key, 1, rate), {
    allowed: true,
    limit: 3,
    remaining: 2,
    retryAfterS: 0,
    waitMs: 0,
    resetS: 2,
  });
  assert.deepEqual(await limiter.take(key, 2, rate), {
    allowed: true,
    limit: 3,
    remaining: 0,
    retryAfterS: 0,
    waitMs: 0,
    resetS: 6,
  });
  const { waitMs, ...refused } = await limiter.take(key, 1, rate);
  assert.ok(waitMs > 0 && waitMs <= 2000, `${waitMs} ms`);
  assert.deepEqual(refused, {
    allowed: false,
    limit: 3,
    remaining: 0,
    retryAfterS: 2,
    resetS: 6,
  });
});

redisTest("two limiters on one Redis share a bucket, and under a storm exactly the burst is granted", async (open) => {
  const [one, two] = [await open(), await open()];
  const key = freshKey();
  const storm = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : two).take(key, 1, slow));
  const verdicts = await Promise.all(storm);
  assert.equal(verdicts.filter(({ allowed }) => allowed).length, slow.burst);
  assert.equal(verdicts.filter(({ degraded }) => degraded).length, 0);
});

redisTest("tokens flow back with Redis's clock", async (open) => {
  const limiter = await open();
  const key = freshKey();
  const rate = { rps: 20, burst: 1 };
  assert.equal((await limiter.take(key, 1, rate)).allowed, true);
  assert.equal((await limiter.take(key, 1, rate)).allowed, false);
  await until(async () => (await limiter.take(key, 1, rate)).allowed);
});

redisTest("a bucket's key expires when the bucket is full, and a free call makes none", async (open) => {
  const limiter = await open({ prefix: "expiry:" });
  const direct = new Redis(peer!.url);
  try {
    await limiter.take("a", 1, { rps: 10, burst: 10 });
    const ttlMs = await direct.pttl("expiry:a");
    assert.ok(ttlMs > 0 && ttlMs <= 102, `${ttlMs} ms`);
    assert.match((await direct.get("expiry:a")) ?? "expired", /^\d{16}$|^expired$/, "to the microsecond");
    await limiter.take("free", 0, slow);
    assert.equal(await direct.exists("expiry:free"), 0);
    await until(async () => (await direct.exists("expiry:a")) === 0);
  } finally {
    direct.disconnect();
  }
});

redisTest(
  "a bucket that lies in the future, as after a clock was set back, counts as empty and fills from now",
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

redisTest("a Redis that lost its scripts is served again without a failure", async (open) => {
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
  "a Redis killed in mid-way: open lets pass and says so, closed refuses, both recover by themselves",
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
      await assert.rejects(lenient.ping());
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

redisTest(
  "a Redis that answers nothing delays one call by about 100 ms, and the following ones not at all",
  async (open) => {
    const errors: Error[] = [];
    let nowMs = 0;
    const limiter = await open({ clock: { now: () => nowMs }, onError: (error) => errors.push(error) });
    peer!.freeze();
    try {
      const startedMs = performance.now();
      assert.equal((await limiter.take(freshKey(), 1, slow)).degraded, true);
      // The guarantee is 100 ms; the rest is room for a busy machine, below the 2 s of a dead connection.
      assert.ok(performance.now() - startedMs < 1_500, `${performance.now() - startedMs} ms`);
      assert.equal(errors.length, 1);
      for (let n = 0; n < 1000; n++) assert.equal((await limiter.take(freshKey(), 1, slow)).degraded, true);
      assert.equal(errors.length, 1, "nobody asked Redis during the pause");
    } finally {
      peer!.thaw();
    }
    await until(async () => {
      nowMs += 1000;
      return (await limiter.take(freshKey(), 1, slow)).degraded === undefined;
    });
  },
);

redisTest("a limiter whose Redis was never there answers by its fail mode at once", async () => {
  const limiter = redisLimiter({ url: "/nonexistent/redis.sock", failMode: "closed" });
  try {
    await assert.rejects(
      limiter.take("k", 1, slow),
      (error: unknown) => error instanceof Failure && error.code === "UNAVAILABLE",
    );
    await assert.rejects(limiter.ping());
  } finally {
    await limiter.close();
  }
});

test.after(() => peer?.stop());
