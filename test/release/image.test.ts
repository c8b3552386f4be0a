import assert from "node:assert/strict";
import { type ChildProcess, execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { startInImage, whyNoNamespaces } from "../harness/image-root.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";

const run = promisify(execFile);
const source = join(import.meta.dirname, "../..");
const work = await mkdtemp(join(tmpdir(), "switchyard-image-test-"));
const layout = join(work, "layout");
const root = join(work, "root");
const bytesMax = 250 * 2 ** 20;
const running = new Set<ChildProcess>();
after(async () => {
  for (const child of running) child.kill("SIGKILL");
  await rm(work, { recursive: true, force: true, maxRetries: 20 });
});

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}
interface ImageFile {
  readonly architecture: string;
  readonly os: string;
  readonly config: {
    readonly User: string;
    readonly Env: string[];
    readonly Entrypoint: string[];
    readonly Cmd: string[];
    readonly StopSignal: string;
    readonly ExposedPorts: Record<string, object>;
    readonly Volumes: Record<string, object>;
    readonly Healthcheck: { readonly Test: string[] };
    readonly Labels: Record<string, string>;
  };
  readonly rootfs: { readonly diff_ids: string[] };
}
let image: ImageFile;
let layers: Buffer[];

/** Reads a file that a digest addresses, and checks both its digest and its size. */
async function blob({ digest, size }: Descriptor): Promise<Buffer> {
  const bytes = await readFile(join(layout, "blobs", digest.replace(":", "/")));
  assert.equal(digestOf(bytes), digest);
  assert.equal(bytes.length, size);
  return bytes;
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

before(async () => {
  const file = join(work, "image.tar");
  await run(process.execPath, [join(source, "scripts/image.mjs"), "--file", file]);
  await Promise.all([mkdir(layout), mkdir(root)]);
  await run("tar", ["-xf", file, "-C", layout]);
  const index = JSON.parse(await readFile(join(layout, "index.json"), "utf8"));
  const manifest = JSON.parse((await blob(index.manifests[0])).toString());
  image = JSON.parse((await blob(manifest.config)).toString());
  layers = [];
  for (const layer of manifest.layers as Descriptor[]) layers.push(gunzipSync(await blob(layer)));
  for (const layer of layers) {
    const unpacking = run("tar", ["-x", "--no-same-owner", "-C", root]);
    unpacking.child.stdin!.end(layer);
    await unpacking;
  }
});

test("the digests of the layers match, and the image takes at most 250 MiB", async () => {
  assert.deepEqual(layers.map(digestOf), image.rootfs.diff_ids);
  assert.ok(
    layers.reduce((sum, { length }) => sum + length, 0) < bytesMax,
    `${layers.map(({ length }) => length)} bytes`,
  );
});

test("the image names its user, ports, data, signal, health check and origin", async () => {
  const { config, architecture, os } = image;
  assert.deepEqual([os, architecture], ["linux", process.arch === "x64" ? "amd64" : process.arch]);
  assert.equal(config.User, "65532:65532");
  assert.deepEqual(Object.keys(config.ExposedPorts), ["8080/tcp", "9090/tcp", "50051/tcp", "50052/tcp"]);
  assert.deepEqual(Object.keys(config.Volumes), ["/data"]);
  assert.equal(config.StopSignal, "SIGTERM");
  const { version, license } = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
  assert.equal(config.Labels["org.opencontainers.image.version"], version);
  assert.equal(config.Labels["org.opencontainers.image.licenses"], license);
  assert.match(config.Labels["org.opencontainers.image.revision"]!, /^[0-9a-f]{40}$/);
});

test("all files are root's and of one time, except the folder of the data", async () => {
  const listing = run("tar", ["-t", "--verbose", "--numeric-owner", "--full-time", "--utc"], { maxBuffer: 1 << 26 });
  listing.child.stdin!.end(layers[0]);
  const lines = (await listing).stdout.trim().split("\n");
  const others = lines.filter((line) => !/ 0\/0 /.test(line));
  assert.equal(others.length, 1);
  assert.match(others[0]!, /^drwx------ 65532\/65532 .* data\/$/);
  assert.ok(lines.some((line) => /^drwxrwxrwt 0\/0 .* tmp\/$/.test(line)));
  assert.equal(new Set(lines.map((line) => /\d{4}-\d\d-\d\d [\d:]+/.exec(line)![0])).size, 1);
});

test("deploy/Containerfile starts a container like the built image", async () => {
  const lines = (await readFile(join(source, "deploy/Containerfile"), "utf8")).replaceAll("\\\n", " ").split("\n");
  // Only the last stage counts.
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  const valuesOf = (instruction: string) =>
    last.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length).trim());
  const { config } = image;
  assert.deepEqual(valuesOf("USER"), [config.User]);
  assert.deepEqual(
    valuesOf("ENV").join(" ").split(/\s+/).sort(),
    config.Env.filter((each) => !each.startsWith("PATH=")).sort(),
  );
  assert.deepEqual(
    valuesOf("EXPOSE")[0]!.split(" "),
    Object.keys(config.ExposedPorts).map((port) => port.replace("/tcp", "")),
  );
  assert.deepEqual(
    valuesOf("ENTRYPOINT").map((each) => JSON.parse(each)),
    [config.Entrypoint],
  );
  assert.deepEqual(
    valuesOf("CMD").map((each) => JSON.parse(each)),
    [config.Cmd],
  );
  assert.deepEqual(valuesOf("STOPSIGNAL"), [config.StopSignal]);
  assert.deepEqual(
    valuesOf("VOLUME").map((each) => JSON.parse(each)),
    [Object.keys(config.Volumes)],
  );
  const [check] = valuesOf("HEALTHCHECK");
  assert.deepEqual(JSON.parse(check!.replace(/^.*? CMD /, "")), config.Healthcheck.Test.slice(1));
});

/** Starts the image's own command in its files, with its own environment besides the given one. */
async function startContainer(words: readonly string[], env: Record<string, string>, mounts: Record<string, string>) {
  const { config } = image;
  const own = Object.fromEntries(
    config.Env.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
  const child = await startInImage({
    root,
    uid: Number.parseInt(config.User, 10),
    words,
    env: { ...own, ...env },
    mounts,
  });
  running.add(child);
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => (text += chunk));
  const exited = once(child, "close").then(([code]) => {
    running.delete(child);
    return code as number;
  });
  return { child, exited, output: () => text };
}

test("the image serves as an unprivileged user on a read-only root, is healthy, routes an item and stops on SIGTERM", async (t) => {
  const reason = await whyNoNamespaces();
  if (reason !== undefined) return t.skip(reason);
  const database = await freshDatabase();
  t.after(database.drop);
  const data = join(work, "data");
  await mkdir(data);
  const url = new URL(database.url);
  const socket = decodeURIComponent(url.hostname);
  url.hostname = encodeURIComponent("/run/postgresql");
  const key = "sk_test_image_0123456789abcdef";
  const { config } = image;
  const env = {
    SERVICE_DATABASE_URL: url.href,
    SERVICE_AUTH_API_KEY_ENABLED: "true",
    SERVICE_AUTH_BOOTSTRAP_API_KEY: key,
    SERVICE_AUTH_BCRYPT_COST: "4",
    SERVICE_CONNECTOR_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    // The network is the machine's, where the ports may be in use.
    SERVICE_SERVER_HTTP_ADDR: "127.0.0.1:0",
    SERVICE_SERVER_GRPC_ADDR: "127.0.0.1:0",
    SERVICE_SERVER_METRICS_ADDR: "127.0.0.1:0",
    SERVICE_SERVER_INTERNAL_ADDR: "127.0.0.1:0",
    SERVICE_API_ADDR: "127.0.0.1:0",
  };
  const words = [...config.Entrypoint, ...config.Cmd];
  const node = await startContainer(words, env, { "/data": data, "/run/postgresql": socket });
  const address = (await Promise.race([
    until(() => /serving at (\S+)/.exec(node.output())?.[1]),
    node.exited.then((code) => assert.fail(`It ended with ${code}: ${node.output()}`)),
  ]))!;

  const status = await readFile(`/proc/${node.child.pid}/status`, "utf8");
  assert.match(status, /^CapEff:\t0+$/m, "the process has no privileges");
  const writing = "require('node:fs').writeFileSync('/app/written', '')";
  const writer = await startContainer([config.Entrypoint[0]!, "-e", writing], {}, {});
  assert.notEqual(await writer.exited, 0);
  assert.match(writer.output(), /EROFS/);
  const checkHealth = async () => {
    const found = { SERVICE_SERVER_HTTP_ADDR: new URL(address).host };
    return (await startContainer(config.Healthcheck.Test.slice(1), found, {})).exited;
  };
  assert.equal(await checkHealth(), 0);
  const call = async (path: string, body: unknown) => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const response = await fetch(address + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as { data: Record<string, unknown> };
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer.data;
  };
  const pool = await call("/api/pools", { name: "orders", strategy: "first_accept" });
  const routed = await call("/api/route", { pool_id: pool.id, type: "order", payload: {} });
  assert.equal(routed.outcome, "queued");

  node.child.kill("SIGTERM");
  assert.equal(await node.exited, 0, node.output());
  assert.equal(await checkHealth(), 1, "a stopped service is not healthy");
  assert.ok((await stat(join(data, ".cache"))).isDirectory(), "what Node compiled is kept with the data");
});
