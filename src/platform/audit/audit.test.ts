import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { after, test } from "node:test";
import { Failure } from "../../errors/index.ts";
import { createAudit } from "./audit.ts";
import { genesisHash } from "./chain.ts";
import { type AuditEntry, type AuditSettings, openAudit, verifyAudit } from "./index.ts";
import { createStreamSink, type Sink } from "./sink.ts";

const folder = await mkdtemp(join(tmpdir(), "audit-"));
after(() => rm(folder, { recursive: true }));

let files = 0;
const freshPath = (): string => join(folder, `audit-${++files}.log`);
const settings = { hashChain: true, redactPii: false, clock: { now: () => 1_700_000_000_000 } };
const file = (path: string, more: Partial<AuditSettings> = {}): AuditSettings => ({
  sink: "file",
  path,
  ...settings,
  ...more,
});
const entry = (n: number): AuditEntry => ({
  tenant_id: "t1",
  actor: "key:k1",
  actor_kind: "api_key",
  operation: "service.api.PoolService/CreatePool",
  resource: "pool",
  action: "write",
  outcome: "succeeded",
  request_id: `r${n}`,
  remote_address: "203.0.113.77",
  details: { n },
});

async function written(count: number): Promise<string> {
  const path = freshPath();
  const audit = await openAudit(file(path));
  await Promise.all(Array.from({ length: count }, (_, n) => audit.append(entry(n))));
  await audit.close();
  return path;
}
const linesOf = async (path: string): Promise<string[]> => (await readFile(path, "utf8")).trimEnd().split("\n");
const failsWith = (code: string, pattern: RegExp) => (error: unknown) =>
  error instanceof Failure && error.code === code && pattern.test(error.message);

test("entries are numbered in the order of the calls, and each hash covers the previous one", async () => {
  const lines = (await linesOf(await written(100))).map((line) => JSON.parse(line));
  let previous = genesisHash;
  for (const [at, { hash, ...rest }] of lines.entries()) {
    assert.equal(rest.seq, at + 1);
    assert.equal(rest.request_id, `r${at}`);
    assert.equal(rest.prev_hash, previous);
    // Computed here independently of the code: the documented rule alone must be enough to verify a file.
    const sorted = Object.keys(rest)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${JSON.stringify(rest[name])}`);
    assert.equal(
      hash,
      createHash("sha256")
        .update(`${previous}{${sorted.join(",")}}`)
        .digest("hex"),
    );
    previous = hash;
  }
});

test("a line has exactly the documented members", async () => {
  const [line] = await linesOf(await written(1));
  assert.deepEqual(Object.keys(JSON.parse(line!)), [
    "seq",
    "time",
    "tenant_id",
    "actor",
    "actor_kind",
    "operation",
    "resource",
    "action",
    "outcome",
    "request_id",
    "remote_address",
    "details",
    "prev_hash",
    "hash",
  ]);
});

test("the chain continues across restarts", async () => {
  const path = freshPath();
  for (let start = 0; start < 3; start++) {
    const audit = await openAudit(file(path));
    await Promise.all([audit.append(entry(1)), audit.append(entry(2))]);
    await audit.close();
  }
  const verdict = await verifyAudit(path);
  assert.equal(verdict.ok, true);
  assert.equal(verdict.entries, 6);
  assert.equal(verdict.head.seq, 6);
});

test("concurrent entries are batched into few writes", async () => {
  let writes = 0;
  const sink: Sink = { ...createStreamSink(new PassThrough().resume()), write: async () => void writes++ };
  const audit = await createAudit(sink, settings);
  await Promise.all(Array.from({ length: 1000 }, (_, n) => audit.append(entry(n))));
  assert.ok(writes <= 2, `${writes} writes`);
});

test("a last line torn by a crash is terminated and recorded, and the file verifies and reports it", async () => {
  for (const count of [0, 3]) {
    const path = await written(count);
    await appendFile(path, Buffer.from('{"seq":4,"time":"2026-01-01T00:00:00Z","actor":"ü').subarray(0, -1));
    const before = await verifyAudit(path);
    assert.equal(before.ok, true);
    assert.ok(before.tornBytes > 0);
    const audit = await openAudit(file(path));
    await audit.append(entry(9));
    await audit.close();
    const verdict = await verifyAudit(path);
    assert.deepEqual(
      { ok: verdict.ok, entries: verdict.entries, recovered: verdict.recoveredLines, torn: verdict.tornBytes },
      { ok: true, entries: count + 2, recovered: 1, torn: 0 },
    );
    // The torn line is retained as evidence, and altering it later is detected.
    await writeFile(
      path,
      (await readFile(path, "latin1")).replace('"time":"2026-01-01', '"time":"2026-01-02'),
      "latin1",
    );
    assert.equal((await verifyAudit(path)).ok, false);
  }
});

test("a file whose last line does not verify is not continued", async () => {
  const path = await written(3);
  await writeFile(path, (await readFile(path, "utf8")).replace('"r2"', '"rX"'));
  await assert.rejects(openAudit(file(path)), failsWith("FAILED_PRECONDITION", /last line does not verify/));
  await writeFile(path, "hello\n");
  await assert.rejects(openAudit(file(path)), failsWith("FAILED_PRECONDITION", /not JSON/));
});

test("a file is not continued with a different hash_chain setting", async () => {
  const chained = await written(1);
  await assert.rejects(
    openAudit(file(chained, { hashChain: false })),
    failsWith("FAILED_PRECONDITION", /hash_chain on/),
  );
  const plain = freshPath();
  for (const _ of [1, 2]) {
    const audit = await openAudit(file(plain, { hashChain: false }));
    await audit.append(entry(1));
    await audit.close();
  }
  assert.deepEqual(
    (await linesOf(plain)).map((line) => JSON.parse(line).seq),
    [1, 2],
  );
  await assert.rejects(openAudit(file(plain)), failsWith("FAILED_PRECONDITION", /hash_chain off/));
  assert.equal((await verifyAudit(plain)).brokenAt?.reason, "not chained");
});

test("a failed write rejects its entries, writes nothing, and the chain continues without a gap", async () => {
  const stream = new PassThrough();
  const healthy = createStreamSink(stream);
  let broken = true;
  const sink: Sink = {
    ...healthy,
    write: (text) => (broken ? Promise.reject(new Error("disk full")) : healthy.write(text)),
  };
  const audit = await createAudit(sink, settings);
  await assert.rejects(audit.append(entry(1)), failsWith("UNAVAILABLE", /cannot be written/));
  broken = false;
  await audit.append(entry(2));
  await audit.close();
  const path = freshPath();
  await writeFile(path, stream.read());
  assert.equal((await verifyAudit(path)).entries, 1);
});

test("a write that a full disk interrupted is truncated before the next one", async () => {
  const { createFileSink } = await import("./sink.ts");
  const { open } = await import("node:fs/promises");
  const path = freshPath();
  const real = await open(path, "a+");
  let room = 700;
  const limited = new Proxy(real, {
    get(target, name) {
      if (name !== "write") {
        const member = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      }
      return async (bytes: Buffer, offset: number, length: number) => {
        if (room === 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
        const part = Math.min(room, length);
        room -= part;
        return target.write(bytes, offset, part);
      };
    },
  });
  const tail = { head: { seq: 0, hash: genesisHash }, sizeBytes: 0, torn: undefined };
  const audit = await createAudit(
    createFileSink(limited, tail, () => {}),
    settings,
  );
  await audit.append(entry(1));
  await assert.rejects(audit.append(entry(2)), /The audit log cannot be written/);
  room = Number.POSITIVE_INFINITY;
  await audit.append(entry(3));
  await audit.close();
  const verdict = await verifyAudit(path);
  assert.deepEqual([verdict.ok, verdict.entries, verdict.recoveredLines], [true, 2, 0]);
});

test("an entry too large for a line is written without its details", async () => {
  const path = freshPath();
  const audit = await openAudit(file(path));
  await audit.append({ ...entry(1), details: { blob: "ü".repeat(100_000) } });
  await audit.append({ ...entry(2), request_id: "x".repeat(200_000) });
  await audit.append(entry(3));
  await audit.close();
  assert.equal(JSON.parse((await linesOf(path))[0]!).details.truncated, true);
  assert.equal((await verifyAudit(path)).entries, 3);
  await (await openAudit(file(path))).close();
});

test("secrets are redacted in every entry, and personal data if configured", async () => {
  for (const redactPii of [false, true]) {
    const path = freshPath();
    const audit = await openAudit(file(path, { redactPii, redactFields: ["plate"] }));
    await audit.append({
      ...entry(1),
      actor: "ada@example.com",
      details: { header: "Bearer abcdefgh1234", plate: "B-1" },
    });
    await audit.close();
    const line = JSON.parse((await linesOf(path))[0]!);
    assert.deepEqual(line.details, { header: "Bearer [redacted]", plate: "[redacted]" });
    assert.equal(line.actor, redactPii ? "[email]" : "ada@example.com");
    assert.equal(line.remote_address, redactPii ? "203.0.113.x" : "203.0.113.77");
  }
});

test("an entry after close is rejected, and close waits for earlier entries", async () => {
  const path = freshPath();
  const audit = await openAudit(file(path));
  const early = audit.append(entry(1));
  await audit.close();
  await early;
  await assert.rejects(audit.append(entry(2)), failsWith("UNAVAILABLE", /closed/));
  assert.equal((await verifyAudit(path)).entries, 1);
});

// A process that appends in an endless loop and prints the number of each acknowledged entry.
function appendForever(path: string) {
  const script = `
    const { openAudit } = await import(${JSON.stringify(new URL("./index.ts", import.meta.url).href)});
    const audit = await openAudit({ sink: "file", path: ${JSON.stringify(path)}, hashChain: true, redactPii: false, clock: Date });
    let n = 0;
    const one = async () => { for (;;) { const id = ++n; await audit.append({ ...${JSON.stringify(entry(0))}, request_id: "r" + id }); process.stdout.write(id + "\\n"); } };
    for (let i = 0; i < 20; i++) one();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { child, lines: createInterface({ input: child.stdout }) };
}

test("two processes cannot append to one file, and a kill -9 releases the lock and loses no acknowledged entry", async () => {
  const path = freshPath();
  const acknowledged = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const { child, lines } = appendForever(path);
    let seen = 0;
    try {
      for await (const line of lines) {
        if (/^\d+$/.test(line)) acknowledged.add(`${round}:r${line}`);
        if (++seen === 50) await assert.rejects(openAudit(file(path)), failsWith("FAILED_PRECONDITION", /in use/));
        if (seen === 400) child.kill("SIGKILL");
      }
    } finally {
      child.kill("SIGKILL");
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    assert.ok(seen >= 400);
  }
  const verdict = await verifyAudit(path);
  assert.equal(verdict.ok, true, verdict.brokenAt?.reason);
  let round = -1;
  const recorded = new Set<string>();
  for (const line of await linesOf(path)) {
    const { request_id } = JSON.parse(line);
    if (request_id === "r1") round++;
    recorded.add(`${round}:${request_id}`);
  }
  for (const id of acknowledged) assert.ok(recorded.has(id), `${id} was acknowledged and is missing`);
});

test("the stdout and stderr sinks write chained lines", async () => {
  for (const sink of ["stdout", "stderr"] as const) {
    const script = `
      const { openAudit } = await import(${JSON.stringify(new URL("./index.ts", import.meta.url).href)});
      const audit = await openAudit({ sink: "${sink}", hashChain: true, redactPii: false, clock: Date });
      await audit.append(${JSON.stringify(entry(1))});
      await audit.close();
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "pipe"] });
    const path = freshPath();
    await writeFile(path, (await child[sink].toArray()).join(""));
    assert.equal((await verifyAudit(path)).entries, 1, sink);
  }
});
