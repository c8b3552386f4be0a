import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { chainLine, entryHash, genesis } from "./chain.ts";
import { openAudit, verifyAudit } from "./index.ts";

const folder = await mkdtemp(join(tmpdir(), "audit-verify-"));
after(() => rm(folder, { recursive: true }));

let files = 0;
const freshPath = (): string => join(folder, `audit-${++files}.log`);

async function written(count: number): Promise<string> {
  const path = freshPath();
  const audit = await openAudit({ sink: "file", path, hashChain: true, redactPii: false, clock: Date });
  const appends = Array.from({ length: count }, (_, n) =>
    audit.append({
      tenant_id: "t1",
      actor: "key:k1",
      actor_kind: "api_key",
      operation: "service.api.PoolService/CreatePool",
      resource: "pool",
      action: "write",
      outcome: "succeeded",
      request_id: `r${n}`,
      remote_address: "203.0.113.77",
    }),
  );
  await Promise.all(appends);
  await audit.close();
  return path;
}
const linesOf = async (path: string): Promise<string[]> => (await readFile(path, "utf8")).trimEnd().split("\n");

test("every kind of tampering is detected at the line where the chain breaks", async () => {
  const original = await linesOf(await written(5));
  const edit = (line: string): string => line.replace('"r2"', '"rX"');
  const rehashed = (line: string): string => {
    const { hash: _, ...rest } = JSON.parse(edit(line));
    return JSON.stringify({ ...rest, hash: entryHash(rest.prev_hash, rest) });
  };
  const [a, b, c, d, e] = original as [string, string, string, string, string];
  const cases: [string, string[], number][] = [
    ["an edit", [a, b, edit(c), d, e], 3],
    ["an edit with its hash made anew", [a, b, rehashed(c), d, e], 4],
    ["a deletion", [a, b, d, e], 3],
    ["a deletion at the front", [b, c, d, e], 1],
    ["an insertion", [a, b, b, c, d, e], 3],
    ["an insertion of garbage", [a, b, "garbage", c, d, e], 3],
    ["an empty line", [a, b, "", c, d, e], 3],
    ["a swap", [a, c, b, d, e], 2],
    ["a cut inside a line", [a, b, c.slice(0, 50), d, e], 3],
    ["a member given twice", [a, b, c.replace("{", '{"outcome":"denied",'), d, e], 3],
    ["other spacing", [a, b, c.replace(":", ": "), d, e], 3],
    ["an edit of the last line", [a, b, c, d, e.replace('"r4"', '"rX"')], 5],
    ["a forged recovery", [a, b, "garbage", JSON.stringify({ ...JSON.parse(c), operation: "audit.recover" }), d, e], 3],
    ["an overlong line", [a, b, "x".repeat(500_000), c, d, e], 3],
  ];
  for (const [what, lines, at] of cases) {
    const path = freshPath();
    await writeFile(path, `${lines.join("\n")}\n`);
    const verdict = await verifyAudit(path);
    assert.equal(verdict.ok, false, what);
    assert.equal(verdict.brokenAt?.line, at, `${what}: ${verdict.brokenAt?.reason}`);
  }
});

test("a line of JSON that is not an entry is reported as such", async () => {
  for (const line of ["null", "5", "[]"]) {
    const path = freshPath();
    await writeFile(path, `${line}\n`);
    assert.deepEqual((await verifyAudit(path)).brokenAt, { line: 1, reason: "not an entry" }, line);
  }
});

test("a gap in the sequence numbers is detected even if every link matches", async () => {
  const path = await written(1);
  const { hash: _, prev_hash: __, ...entry } = JSON.parse((await linesOf(path))[0]!);
  const first = chainLine({ ...entry, seq: 1 }, genesis);
  const third = chainLine({ ...entry, seq: 3 }, first.head);
  await writeFile(path, `${first.line}\n${third.line}\n`);
  assert.deepEqual((await verifyAudit(path)).brokenAt, { line: 2, reason: "entry 3 follows entry 1" });
});

test("truncation is detected by comparison with a head stored elsewhere", async () => {
  const path = await written(5);
  const before = await verifyAudit(path);
  await writeFile(path, `${(await linesOf(path)).slice(0, 3).join("\n")}\n`);
  const afterwards = await verifyAudit(path);
  assert.equal(afterwards.ok, true);
  assert.notDeepEqual(afterwards.head, before.head);
});
