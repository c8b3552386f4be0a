import assert from "node:assert/strict";
import test from "node:test";
import { runFiles } from "../harness/run-files.ts";

const ulids = new URL("../../src/platform/ids/ulid.ts", import.meta.url).href;
const afterFile = new URL("../harness/after-file.ts", import.meta.url).href;

const good = 'test("good", () => {});';
const printsItsProcess = `console.log("process", process.pid); ${good}`;

/** The process ids that were printed, in order. */
function processesIn(output: string): string[] {
  return [...output.matchAll(/^process (\d+)$/gm)].map((match) => match[1]!);
}

test("a run shows its progress, reports failures immediately, and lists the slowest files at the end", async (t) => {
  const { success, output } = await runFiles(
    t,
    {
      quick: 'test("a", () => {}); test("b", () => {});',
      broken: 'test("c", () => {}); test("d", async (t) => t.test("e", () => { throw new Error("the reason"); }));',
      slow: 'test("f", () => new Promise((resolve) => setTimeout(resolve, 300)));',
    },
    { workers: 2 },
  );
  assert.equal(success, false);
  assert.equal(output.match(/^\[\d\/3\]/gm)!.length, 3);
  assert.match(output, /^\[\d\/3\] ok {3}quick\.test\.mjs \(2 of 2, /m);
  assert.match(output, /^\[\d\/3\] FAIL broken\.test\.mjs \(1 of 3, /m);
  assert.ok(output.indexOf("the reason") < output.indexOf("Slowest files"));
  const slowest = [...output.matchAll(/^ +(\S+) s +\S+ s {2}(\w+)\.test\.mjs$/gm)];
  assert.deepEqual(slowest.map((match) => match[2]).sort(), ["broken", "quick", "slow"]);
  const seconds = slowest.map((match) => Number(match[1]));
  assert.deepEqual(
    seconds,
    seconds.toSorted((a, b) => b - a),
  );
  assert.match(output, /4 passed, 2 failed, 0 skipped in 3 files/);
  assert.match(output, /Failed:\n {2}broken\.test\.mjs: d > e\n$/);
});

test("a short run lists its tests with their suites", async (t) => {
  const suite = 'import { describe } from "node:test"; describe("outer", () => { test("inner", () => {}); });';
  const { success, output } = await runFiles(t, { suite, good }, { showTests: true });
  assert.equal(success, true);
  assert.match(output, /^ {2}ok {3}outer > inner \(/m);
  assert.match(output, /2 passed, 0 failed/);
});

test("the summary says why each test and suite was skipped", async (t) => {
  const skipped = `
    import { describe } from "node:test";
    test("one", { skip: "needs root" }, () => {});
    test("two", (t) => t.skip("needs Redis"));
    describe("suite", { skip: "needs a browser" }, () => { test("inner", () => {}); });`;
  const { success, output } = await runFiles(t, { skipped, good });
  assert.equal(success, true);
  assert.match(output, /^1 passed, 0 failed, 3 skipped in 2 files/m);
  const reasons = ["one: needs root", "two: needs Redis", "suite: needs a browser"];
  assert.ok(output.endsWith(`\nSkipped:\n${reasons.map((each) => `  skipped.test.mjs: ${each}\n`).join("")}`), output);
});

test("files share a process, unless they request their own", async (t) => {
  const alone = `// Own process: it says so.\n${printsItsProcess}`;
  const { success, output } = await runFiles(t, { first: printsItsProcess, alone, last: printsItsProcess });
  assert.equal(success, true);
  const [own, first, last] = processesIn(output);
  assert.equal(first, last);
  assert.notEqual(own, first);
});

test("a file does not see what the file before it has mocked", async (t) => {
  const mocks = 'import { mock } from "node:test"; mock.method(Date, "now", () => 0); test("t", () => {});';
  const reads = 'import assert from "node:assert"; test("t", () => assert.ok(Date.now() > 0));';
  const { success, output } = await runFiles(t, { first: mocks, last: reads });
  assert.equal(success, true, output);
});

test("hooks and cleanups of a file run only for that file, cleanups last", async (t) => {
  const file = (name: string) => `
    import { after, before } from "node:test";
    import { afterFile } from "${afterFile}";
    before(() => { console.log("before ${name}"); afterFile(() => console.log("cleanup ${name}")); });
    after(() => console.log("after ${name}"));
    test("t", () => console.log("test ${name}"));`;
  const { output } = await runFiles(t, { one: file("one"), two: file("two") });
  const steps = output.split("\n").filter((line) => /^(before|test|after|cleanup) /.test(line));
  const stepsOf = (name: string) => ["before", "test", "after", "cleanup"].map((step) => `${step} ${name}`);
  assert.deepEqual(steps, [...stepsOf("one"), ...stepsOf("two")]);
});

test("a failing cleanup fails its file", async (t) => {
  const bad = `import { afterFile } from "${afterFile}"; afterFile(() => { throw new Error("not cleaned"); }); ${good}`;
  const { success, output } = await runFiles(t, { bad, good });
  assert.equal(success, false);
  assert.match(output, /not cleaned/);
  assert.match(output, /^\[1\/2\] FAIL bad\.test\.mjs/m);
  assert.match(output, /^\[2\/2\] ok {3}good\.test\.mjs/m);
});

test("a file that cannot be loaded, fails outside its tests or ends its process fails by name, and the others still run", async (t) => {
  const broken = {
    unloadable: 'throw new Error("the reason");',
    crashing: 'test("crashes", () => process.kill(process.pid, "SIGKILL"));',
    exiting: 'test("exits", () => process.exit(0));',
    stray: `setImmediate(() => { throw new Error("thrown by nobody"); }); ${good}`,
  };
  const { success, output } = await runFiles(t, { ...broken, good }, { workers: 2 });
  assert.equal(success, false);
  for (const name of Object.keys(broken)) assert.match(output, new RegExp(`^\\[\\d/5\\] FAIL ${name}\\.test`, "m"));
  assert.match(output, /^\[\d\/5\] ok {3}good\.test/m);
  assert.match(output, /^FAIL crashing.*: the process ended with SIGKILL before the file did$/m);
  assert.match(output, /^FAIL exiting.*: the process ended with exit code 0 before the file did$/m);
  assert.match(output, /^FAIL unloadable.*: the file cannot be loaded\n.*the reason/m);
  assert.match(output, /^FAIL stray.*: an error outside of the tests$/m);
  assert.match(output, /thrown by nobody/);
});

test("what a file started before it failed to load is cleaned up", async (t) => {
  const broken = `
    import { afterFile } from "${afterFile}";
    const open = setInterval(() => {}, 1000);
    afterFile(() => clearInterval(open));
    throw new Error("the reason");`;
  const { output } = await runFiles(t, { broken }, { fileMsMax: 20_000 });
  assert.match(output, /^FAIL broken.*: the file cannot be loaded\n.*the reason/m);
  assert.equal(output.match(/^FAIL /gm)!.length, 1, output);
});

test("a process that ends after a file is not used for the next one", async (t) => {
  const leaving = `setTimeout(() => process.exit(0), 100).unref(); ${printsItsProcess}`;
  const { success, output } = await runFiles(t, { leaving, next: printsItsProcess }, { pauseMs: 1000 });
  assert.equal(success, true, output);
  assert.equal(new Set(processesIn(output)).size, 2);
});

test("a file that exceeds its time limit is ended and fails", async (t) => {
  const endless = 'test("hangs", () => new Promise(() => setInterval(() => {}, 1000)));';
  // The process must have started the test by then.
  const { success, output } = await runFiles(t, { endless }, { fileMsMax: 10_000 });
  assert.equal(success, false);
  assert.match(output, /^FAIL endless.*: the file did not end within 10 s\n +Unfinished: hangs$/m);
  assert.match(output, /^\[1\/1\] FAIL endless\.test/m);
});

test("a file that leaves open handles fails, and the next one gets a new process", async (t) => {
  const open = `import net from "node:net"; net.createServer().listen(0); ${printsItsProcess}`;
  const { success, output } = await runFiles(t, { open, next: printsItsProcess }, { lingerMsMax: 200 });
  assert.equal(success, false);
  assert.match(output, /^FAIL open.*: the file leaves something open\n.*TCPServerWrap/m);
  assert.match(output, /^\[2\/2\] ok {3}next\.test/m);
  assert.equal(new Set(processesIn(output)).size, 2);
});

test("ids with a future time end with their file", async (t) => {
  const ahead = `import { ulid } from "${ulids}"; ulid(Date.now() + 60_000); ${printsItsProcess}`;
  const next = `import assert from "node:assert/strict"; import { ulid, ulidMs } from "${ulids}";
    test("ids have the current time", () => assert.ok(ulidMs(ulid(Date.now())) <= Date.now())); ${printsItsProcess}`;
  const { success, output } = await runFiles(t, { ahead, next });
  assert.equal(success, true, output);
  assert.equal(new Set(processesIn(output)).size, 1);
});
