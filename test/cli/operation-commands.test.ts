import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { Command } from "commander";
import { commandEntries } from "../../gen/commands.ts";
import { createCommandNaming, formatCommand, pluralOf } from "../../src/cli/operations/operation-names.ts";
import { fieldOptions, pathArguments } from "../../src/cli/operations/operation-options.ts";
import { createProgram } from "../../src/cli/program.ts";
import { type Operation, readOperations } from "../../src/definitions/index.ts";
import { cli } from "./cli-run.ts";

const operations = readOperations();
const nameOf = createCommandNaming(operations);
const quiet = { env: {}, terminal: false, columns: 100, out: () => {}, err: () => {}, input: async () => "" };

// Completion needs every command with its options.
const program = await createProgram([...commandEntries.map(({ word }) => word), "--help"], quiet, () => {});

function commandOf(operation: Operation): Command | undefined {
  const { noun, verb } = nameOf(operation);
  const group = noun === undefined ? program : program.commands.find((each) => each.name() === noun);
  return group?.commands.find((each) => each.name() === verb);
}

test("every operation has its own command", () => {
  const names = operations.map((operation) => formatCommand(nameOf(operation)));
  assert.equal(new Set(names).size, operations.length);
  for (const operation of operations) assert.ok(commandOf(operation), operation.id);
});

test("every field of a request is an argument or an option", () => {
  for (const operation of operations) {
    const command = commandOf(operation)!;
    const flags = new Set(command.options.map(({ long }) => long));
    const positional = pathArguments(operation).map(({ name }) => name);
    assert.deepEqual(
      command.registeredArguments.map((each) => each.name()),
      positional,
    );
    const options = fieldOptions(operation);
    assert.deepEqual(
      [...positional, ...options.map(({ field }) => field.name)].sort(),
      operation.method.input.fields.map(({ name }) => name).sort(),
    );
    for (const { flag } of options) assert.ok(flags.has(flag), `${operation.id} ${flag}`);
  }
});

test("the commands of every operation have help", async () => {
  for (const operation of operations) {
    const { exitCode, out } = await cli([...formatCommand(nameOf(operation)).split(" "), "--help"]);
    assert.equal(exitCode, 0);
    for (const { flag } of fieldOptions(operation)) assert.match(out, new RegExp(`${flag}\\b`));
    for (const { name } of pathArguments(operation)) assert.match(out, new RegExp(`<${name}>`));
  }
});

test("operations offer the options that they support: idempotency keys and update conditions", () => {
  for (const operation of operations) {
    const flags = commandOf(operation)!.options.map(({ long }) => long);
    assert.equal(flags.includes("--idempotency-key"), operation.acceptsIdempotencyKey, operation.id);
    const conditional =
      ["PATCH", "PUT"].includes(operation.bindings[0]!.verb) && operation.method.input.field.recordVersion;
    assert.equal(flags.includes("--if-match"), conditional !== undefined && conditional !== false, operation.id);
  }
});

for (const [method, command] of [
  ["CreateTenant", "tenant create"],
  ["GetTenantQuota", "tenant get-quota"],
  ["RevokeApiKey", "api-key revoke"],
  ["ListEnvironments", "environment list"],
  ["ListCapabilities", "capability list"],
  ["ListCapabilityPostures", "capability list-postures"],
  ["SetConfigValue", "config-value set"],
  ["ExportConfig", "config export"],
  ["GetServicesReport", "services-report get"],
  ["GetConfigSchema", "config get-schema"],
  ["GetQueueStatus", "queue get-status"],
  ["SubscribeEvents", "event tail"],
  ["Route", "route"],
  ["RouteBatch", "route-batch"],
  ["LeaseItems", "item lease"],
  ["CompleteItem", "item complete"],
  ["CompleteItems", "item complete-batch"],
  ["ListQueueItems", "item list"],
  ["ListPreferences", "preference list"],
  ["PreviewPreferences", "preference preview"],
  ["RotateWebhookSecret", "webhook-endpoint rotate-secret"],
] as const) {
  test(`${method} is called ${command}`, () => {
    const operation = operations.find((each) => each.method.name === method)!;
    assert.equal(formatCommand(nameOf(operation)), command);
  });
}

test("each resource has one noun: no noun is the plural or a part of another, and none is described twice", () => {
  const nouns = program.commands.filter((each) => each.commands.length > 0);
  const names = nouns.map((each) => each.name());
  for (const name of names) assert.ok(!names.includes(pluralOf(name)), pluralOf(name));
  for (const name of ["items", "queue-item", "preferences", "batch", "routing"]) assert.ok(!names.includes(name), name);
  const descriptions = nouns.map((each) => each.description());
  assert.deepEqual([...new Set(descriptions)], descriptions);
});

test("open approvals are listed and decided by one service", () => {
  const approvals = operations.filter((operation) => nameOf(operation).noun === "workflow-approval");
  assert.deepEqual(
    approvals.map(({ id }) => id),
    ["ListWorkflowApprovals", "DecideWorkflowApproval"].map((name) => `service.api.WorkflowApprovalService/${name}`),
  );
});

test("the help lists commands in alphabetical order, with the service's own commands apart", async () => {
  const { out } = await cli(["--help"]);
  const sections = out.split(/^(?=\S)/m).filter((section) => /^(Server commands|API commands)/.test(section));
  assert.equal(sections.length, 2);
  for (const section of sections) {
    const names = [...section.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!);
    assert.ok(names.length > 5);
    assert.deepEqual(names, names.toSorted());
  }
});

test("the plural of a noun is an alias", async () => {
  for (const [noun, verb] of [
    ["events", "tail"],
    ["items", "lease"],
    ["anomalies", "list"],
  ] as const) {
    const { exitCode, out } = await cli([noun, verb, "--help"]);
    assert.equal(exitCode, 0);
    assert.match(out, /--types|--max-items|--limit/);
  }
});

test("a mistyped command suggests the intended one", async () => {
  const group = await cli(["tenat", "list"]);
  assert.equal(group.exitCode, 2);
  assert.match(group.err, /Did you mean tenant\?/);
  const verb = await cli(["tenant", "craete"]);
  assert.equal(verb.exitCode, 2);
  assert.match(verb.err, /Did you mean create\?/);
  assert.match(verb.err, /\nTry: service tenant create\n$/);
  const option = await cli(["tenant", "create", "--nmae", "Acme"]);
  assert.equal(option.exitCode, 2);
  assert.match(option.err, /Did you mean --name\?/);
  assert.match(option.err, /\nTry: service tenant create --name Acme\n$/);
  for (const guarded of [
    ["tenant", "delte", "acme"],
    ["api-key", "create", "--roels", "admin"],
    ["tenant", "create", "--nmae", "Acme", "--key", "sk_dev_1"],
  ]) {
    const { err } = await cli(guarded);
    assert.match(err, /Did you mean/);
    assert.doesNotMatch(err, /Try:/, "it is only named");
  }
});

test("the help lists every exit code, and the version is the package's", async () => {
  const help = await cli(["--help"]);
  assert.equal(help.exitCode, 0);
  for (const code of [0, 1, 2, 3, 4, 5, 6, 78]) assert.match(help.out, new RegExp(`^ {2}${code} `, "m"));
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  assert.equal((await cli(["--version"])).out, `${version}\n`);
  const build = (await cli(["version"])).out;
  assert.ok(build.startsWith(version), build);
  assert.match(build, /^\S+( \(commit [0-9a-f]{12}, from sources\))?\n$/);
});

test("help before the words of a command shows the same as --help after them", async () => {
  for (const words of [[], ["pool"], ["pools", "list"], ["pool", "list"], ["serve"], ["help"]]) {
    const { exitCode, out } = await cli(["help", ...words]);
    assert.equal(exitCode, 0);
    assert.equal(out, (await cli([...words, "--help"])).out);
  }
  const list = await cli(["help", "pool", "list"]);
  assert.match(list.out, /^Usage: service pool list /);
  assert.equal((await cli(["help", "pool", "list", "more"])).out, list.out);
  assert.equal((await cli(["--profile", "staging", "help", "pool", "list"])).out, list.out);
});

test("help for a mistyped command suggests the intended one", async () => {
  for (const [words, intended] of [
    [["tenat"], "tenant"],
    [["tenant", "craete"], "create"],
  ] as const) {
    const { exitCode, err, out } = await cli(["help", ...words]);
    assert.deepEqual([exitCode, out], [2, ""]);
    assert.match(err, new RegExp(`Did you mean ${intended}\\?`));
  }
});

test("a group without a command prints its help as a usage error", async () => {
  const { exitCode, err } = await cli(["tenant"]);
  assert.equal(exitCode, 2);
  assert.match(err, /Usage: service tenant/);
});

test("the help marks the options that a command needs, and no others", async () => {
  const marked = async (...words: string[]) =>
    (await cli([...words, "--help"])).out.split("\n").flatMap((line) => {
      return /Required\.( |$)/.test(line) ? [/--[a-z-]+/.exec(line)![0]] : [];
    });
  assert.deepEqual(await marked("tenant", "create"), ["--name"]);
  assert.deepEqual(await marked("item", "fail"), ["--lease-token"]);
  assert.deepEqual(await marked("pack", "sign"), ["--key"]);
  assert.deepEqual(await marked("tenant", "list"), []);
});
