import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { WorkflowObjectService } from "../../gen/service/api/workflow_object_pb.ts";
import { lockFor } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startS3Server } from "../harness/s3-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { makeDue, runJob } from "./due-jobs.ts";
import { type ObjectClient, objectClient, sha256Of } from "./object-client.ts";

const directory = join(tmpdir(), `objects-${randomBytes(8).toString("hex")}`);
const s3 = await startS3Server();
afterFile(s3.close);
const fileNode = await startService({ "objects.file.dir": directory });
const s3Node = await startService({
  "objects.backend": "s3",
  "objects.s3.endpoint": s3.settings.endpoint,
  "objects.s3.bucket": s3.settings.bucket,
  "objects.s3.prefix": "tests/",
  "objects.s3.access_key_id": s3.settings.accessKeyId,
  "objects.s3.secret_access_key": s3.settings.secretAccessKey,
});

async function fileKeys(): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const backends = [
  { name: "file", node: fileNode, keys: fileKeys },
  { name: "s3", node: s3Node, keys: s3.keys },
] as const;

const mebibyte = 1024 * 1024;
const removal = "workflow.remove_objects.local";

for (const { name, node, keys } of backends) {
  suite(`objects on the ${name} backend`, { concurrency: false }, () => {
    const client = objectClient(node.baseUrl, node.adminKey);
    const sql = connect(node.databaseUrl, 1);
    afterFile(() => sql.end({ timeout: 1 }));
    const has = async (id: string) => (await keys()).some((key) => key.includes(id));

    /** Makes jobs due until a condition holds. */
    async function runJobsUntil(kinds: readonly string[], isDone: () => Promise<boolean>): Promise<void> {
      await until(async () => {
        await makeDue(sql, kinds);
        return isDone();
      });
    }

    test("an object of 32 MiB is visible after its commit only, and is returned as it was uploaded", async () => {
      const stream = await client.createStream();
      const bytes = randomBytes(32 * mebibyte);
      const intent = await client.prepare(stream, bytes, { content_type: "video/mp4", schema_ref: "clip@1" });
      assert.equal(intent.status, "prepared");
      const path = `${stream}/objects/${intent.id}`;
      assert.equal((await client.raw("GET", path)).status, 404);
      const uploaded = await client.raw("PUT", path, bytes);
      assert.equal(uploaded.status, 200, uploaded.bytes.toString());
      assert.equal(uploaded.json.data.status, "uploaded");
      assert.equal((await client.raw("GET", path)).status, 404);
      assert.deepEqual((await client.call("GET", `${stream}/records`)).records, []);

      const { sequence } = await client.call("POST", `${path}:commit`, {});
      assert.equal(sequence, 1);
      const { records } = await client.call("GET", `${stream}/records`);
      assert.deepEqual(records[0].object, {
        object_key: intent.object_key,
        sha256: sha256Of(bytes),
        size_bytes: bytes.length,
        object_id: intent.id,
        content_type: "video/mp4",
      });
      assert.equal(records[0].schema_ref, "clip@1");
      const { status, headers, bytes: received } = await client.raw("GET", path);
      assert.equal(status, 200);
      assert.equal(headers["content-type"], "video/mp4");
      assert.equal(headers["content-disposition"], "attachment");
      assert.equal(headers.etag, `"${sha256Of(bytes)}"`);
      assert.ok(received.equals(bytes));
    });

    test("ranges, conditions and HEAD follow HTTP", async () => {
      const stream = await client.createStream();
      const bytes = randomBytes(200_000);
      const { path } = await client.deliver(stream, bytes);
      const etag = `"${sha256Of(bytes)}"`;
      const get = (headers: Record<string, string>) => client.raw("GET", path, undefined, headers);
      const cases: readonly (readonly [range: string, first: number, last: number])[] = [
        ["bytes=0-0", 0, 0],
        ["bytes=100-70000", 100, 70_000],
        ["bytes=199999-", 199_999, 199_999],
        ["bytes=-5", 199_995, 199_999],
        ["bytes=0-999999999", 0, 199_999],
      ];
      for (const [range, first, last] of cases) {
        const part = await get({ range });
        assert.equal(part.status, 206, range);
        assert.equal(part.headers["content-range"], `bytes ${first}-${last}/200000`);
        assert.equal(part.headers["content-length"], String(last - first + 1));
        assert.ok(part.bytes.equals(bytes.subarray(first, last + 1)), range);
      }
      const outside = await get({ range: "bytes=200000-" });
      assert.equal(outside.status, 416);
      assert.equal(outside.json.errorCode, "RANGE_NOT_SATISFIABLE");
      assert.equal(outside.headers["content-range"], "bytes */200000");
      assert.equal((await get({ range: "bytes=0-1", "if-range": etag })).status, 206);
      assert.equal((await get({ range: "bytes=0-1", "if-range": '"other"' })).status, 200);
      const unchanged = await get({ "if-none-match": etag });
      assert.equal(unchanged.status, 304);
      assert.equal(unchanged.bytes.length, 0);
      const head = await client.raw("HEAD", path);
      assert.equal(head.status, 200);
      assert.equal(head.headers["content-length"], "200000");
      assert.equal(head.headers["accept-ranges"], "bytes");
    });

    test("bytes of another size or digest are refused, and the right ones are accepted afterwards", async () => {
      const stream = await client.createStream();
      const bytes = randomBytes(100_000);
      const intent = await client.prepare(stream, bytes);
      const path = `${stream}/objects/${intent.id}`;
      for (const [reason, sent] of [
        ["digest", randomBytes(100_000)],
        ["too_short", bytes.subarray(1)],
        ["too_long", Buffer.concat([bytes, bytes])],
      ] as const) {
        const refused = await client.raw("PUT", path, sent);
        assert.equal(refused.status, 400);
        assert.equal(refused.json.errorCode, "OBJECT_MISMATCH");
        assert.equal(refused.json.reason, reason);
        const commit = await client.rest.call("POST", `${path}:commit`, {});
        assert.equal(commit.status, 412);
        assert.equal(commit.body.errorCode, "OBJECT_NOT_UPLOADED");
      }
      assert.equal((await client.raw("PUT", path, bytes)).status, 200);
      // A repeated upload changes nothing, and other bytes are refused as before.
      assert.equal((await client.raw("PUT", path, bytes)).json.data.status, "uploaded");
      assert.equal((await client.raw("PUT", path, randomBytes(100_000))).json.errorCode, "OBJECT_MISMATCH");
      assert.equal((await client.call("POST", `${path}:commit`, {})).sequence, 1);
    });

    test("an object that its stream can never take is refused when it is announced", async () => {
      const bytes = randomBytes(100);
      const announce = async (stream: string) => {
        const announced = { sha256: sha256Of(bytes), size_bytes: String(bytes.length) };
        return (await client.rest.call("POST", `${stream}/objects`, announced)).body;
      };
      const small = await announce(await client.createStream({ ceilings: { unread_bytes: 99 } }));
      assert.equal(small.violations[0].field, "size_bytes");
      assert.match(small.violations[0].message, /the ceiling unread_bytes/);
      const closed = await client.createStream();
      await client.call("POST", `${closed}/close`, {});
      assert.equal((await announce(closed)).errorCode, "STREAM_CLOSED");
    });

    test("more than 32 MiB are refused: when announced, by their length, and while they arrive", async () => {
      const stream = await client.createStream();
      const announced = await client.rest.call("POST", `${stream}/objects`, {
        sha256: "0".repeat(64),
        size_bytes: String(32 * mebibyte + 1),
      });
      assert.equal(announced.status, 400);
      assert.equal(announced.body.violations[0].field, "size_bytes");
      const largest = Buffer.alloc(32 * mebibyte);
      const intent = await client.prepare(stream, largest);
      const path = `${stream}/objects/${intent.id}`;
      const declared = await client
        .raw("PUT", path, Buffer.alloc(32 * mebibyte + 1))
        .catch((error: NodeJS.ErrnoException) => error);
      // The node closes the connection, so that the client may not get to see the response.
      if (!(declared instanceof Error)) assert.equal(declared.json.errorCode, "PAYLOAD_TOO_LARGE");
      const parts = Array.from({ length: 33 }, () => Buffer.alloc(mebibyte));
      const streamed = await client.raw("PUT", path, parts).catch((error: NodeJS.ErrnoException) => error);
      if (!(streamed instanceof Error)) assert.match(streamed.json.errorCode, /PAYLOAD_TOO_LARGE|OBJECT_MISMATCH/);
      assert.equal((await client.call("GET", `${path}/intent`)).status, "prepared");
    });

    test("a repeated commit returns the first sequence, even at the same time", async () => {
      const stream = await client.createStream();
      const bytes = randomBytes(1000);
      const intent = await client.prepare(stream, bytes);
      const path = `${stream}/objects/${intent.id}`;
      await client.raw("PUT", path, bytes);
      const commits = await Promise.all(Array.from({ length: 8 }, () => client.call("POST", `${path}:commit`, {})));
      assert.deepEqual(new Set(commits.map(({ sequence }) => sequence)), new Set([1]));
      await client.call("POST", `${stream}/records`, { payload: { n: 1 } });
      assert.equal((await client.call("POST", `${path}:commit`, {})).sequence, 1);
      assert.equal((await client.call("GET", `${stream}/records`)).records.length, 2);
      const abort = await client.rest.call("POST", `${path}:abort`, {});
      assert.equal(abort.body.errorCode, "OBJECT_INTENT_ENDED");
      assert.deepEqual([abort.body.status, abort.body.current_status], [412, "committed"]);
    });

    test("a commit that does not fit leaves the object uploaded", async () => {
      const stream = await client.createStream({ ceilings: { total_bytes: "1500" } });
      await client.deliver(stream, randomBytes(1000));
      const bytes = randomBytes(1000);
      const intent = await client.prepare(stream, bytes);
      const path = `${stream}/objects/${intent.id}`;
      await client.raw("PUT", path, bytes);
      const full = await client.rest.call("POST", `${path}:commit`, {});
      assert.equal(full.body.errorCode, "STREAM_QUOTA_EXHAUSTED");
      assert.equal((await client.call("GET", `${path}/intent`)).status, "uploaded");
      await client.call("POST", `${stream}/close`, {});
      assert.equal((await client.rest.call("POST", `${path}:commit`, {})).body.errorCode, "STREAM_CLOSED");
    });

    test("an aborted object cannot be committed, and its bytes are removed", async () => {
      const stream = await client.createStream();
      const bytes = randomBytes(1000);
      const intent = await client.prepare(stream, bytes);
      const path = `${stream}/objects/${intent.id}`;
      await client.raw("PUT", path, bytes);
      assert.equal((await client.call("POST", `${path}:abort`, {})).status, "aborted");
      assert.equal((await client.call("POST", `${path}:abort`, {})).status, "aborted");
      assert.equal((await client.rest.call("POST", `${path}:commit`, {})).body.errorCode, "OBJECT_INTENT_ENDED");
      assert.equal((await client.raw("PUT", path, bytes)).json.errorCode, "OBJECT_INTENT_ENDED");
      await runJob(sql, removal);
      // An upload might still be in progress until the intent would have expired.
      assert.equal(await has(intent.id), true);
      await sql`update workflow_object_intents set remove_after = now() where id = ${intent.id}`;
      await runJobsUntil([removal], async () => !(await has(intent.id)));
    });

    test("an intent expires, and its bytes are removed", async () => {
      const stream = await client.createStream();
      const bytes = randomBytes(1000);
      const intent = await client.prepare(stream, bytes);
      const path = `${stream}/objects/${intent.id}`;
      await client.raw("PUT", path, bytes);
      await sql`
        update workflow_object_intents set expires_at = now() - interval '1 hour', remove_after = now() - interval '1 hour'
        where id = ${intent.id}`;
      assert.equal((await client.call("GET", `${path}/intent`)).status, "expired");
      assert.equal((await client.rest.call("POST", `${path}:commit`, {})).body.errorCode, "OBJECT_INTENT_ENDED");
      await runJobsUntil([removal], async () => !(await has(intent.id)));
      const stored = await client.call("GET", `${path}/intent`);
      assert.equal(stored.status, "expired");
    });

    test("a held stream loses no object: neither of a record that is too old, nor of an intent that ended", async () => {
      const stream = await client.createStream({ retention: { max_age_s: "1" } });
      const bytes = randomBytes(1000);
      const { path } = await client.deliver(stream, bytes);
      const aborted = await client.prepare(stream, bytes);
      await client.raw("PUT", `${stream}/objects/${aborted.id}`, bytes);
      await client.call("POST", `${stream}/objects/${aborted.id}:abort`, {});
      await client.call("PUT", `${stream}/legal-hold`, { held: true, reason: "case 7" });
      const id = path.slice(-26);
      await sql`
        update workflow_object_intents set expires_at = now() - interval '1 hour',
          remove_after = case when remove_after is null then null else now() - interval '1 hour' end
        where id = any(${[id, aborted.id]})`;
      await runJobsUntil(["workflow.prune_streams", removal], async () => {
        const [row] =
          await sql`select remove_after > now() as postponed from workflow_object_intents where id = ${aborted.id}`;
        return row!.postponed;
      });
      assert.equal(await has(aborted.id), true);
      assert.ok((await client.raw("GET", path)).bytes.equals(bytes));

      await client.call("PUT", `${stream}/legal-hold`, { held: false });
      await sql`update workflow_object_intents set remove_after = now() where id = ${aborted.id}`;
      await runJobsUntil(["workflow.prune_streams", removal], async () => !(await has(id)) && !(await has(aborted.id)));
      assert.equal((await client.raw("GET", path)).status, 404);
      assert.equal((await client.rest.call("GET", `${stream}/records`)).status, 410);
    });
  });
}

test("no object is removed once a hold is being set: the removal waits, and then respects the hold", async () => {
  const client = objectClient(fileNode.baseUrl, fileNode.adminKey);
  const sql = connect(fileNode.databaseUrl, 2);
  const stream = await client.createStream();
  const bytes = randomBytes(1000);
  const { id } = await client.prepare(stream, bytes);
  await client.raw("PUT", `${stream}/objects/${id}`, bytes);
  await client.call("POST", `${stream}/objects/${id}:abort`, {});
  const isStored = async () => (await fileKeys()).some((key) => key.includes(id));
  await sql.begin(async (tx) => {
    // What the operation does, stopped before its commit.
    await lockFor(tx, "stream_removals", stream.slice(-26));
    await tx`update workflow_stream_heads set hold = '{"by":"x","reason":"y","since":"2027-01-31T00:00:00Z"}'
      where stream_id = ${stream.slice(-26)}`;
    await sql`update workflow_object_intents set remove_after = now() - interval '1 hour' where id = ${id}`;
    await runJob(sql, removal);
    assert.equal(await isStored(), true);
  });
  await runJob(sql, removal);
  assert.equal(await isStored(), true);
  await client.call("PUT", `${stream}/legal-hold`, { held: false });
  await sql`update workflow_object_intents set remove_after = now() - interval '1 hour' where id = ${id}`;
  await runJob(sql, removal);
  assert.equal(await isStored(), false);
  await sql.end({ timeout: 1 });
});

suite("access to objects", { concurrency: false }, () => {
  const client = objectClient(fileNode.baseUrl, fileNode.adminKey);

  async function keyWith(node: TestService, request: object): Promise<string> {
    const { body } = await restClient(node.baseUrl, node.adminKey).call("POST", "/api/v2/api-keys", {
      name: "objects",
      ...request,
    });
    return body.data.secret;
  }

  /** Calls every operation on an object with another client. */
  async function outcomes(other: ObjectClient, stream: string, id: string): Promise<Record<string, string>> {
    const path = `${stream}/objects/${id}`;
    const codeOf = (response: { status: number; json?: { errorCode?: string } }) =>
      response.status < 400 ? "OK" : response.json!.errorCode!;
    const json = { "content-type": "application/json" };
    return {
      prepare: codeOf(
        await other.raw(
          "POST",
          `${stream}/objects`,
          Buffer.from(JSON.stringify({ sha256: "0".repeat(64), size_bytes: "1" })),
          json,
        ),
      ),
      upload: codeOf(await other.raw("PUT", path, Buffer.from("x"))),
      commit: codeOf(await other.raw("POST", `${path}:commit`, Buffer.from("{}"), json)),
      abort: codeOf(await other.raw("POST", `${path}:abort`, Buffer.from("{}"), json)),
      get: codeOf(await other.raw("GET", `${path}/intent`)),
      download: codeOf(await other.raw("GET", path)),
    };
  }

  test("another tenant finds nothing", async () => {
    const rest = restClient(fileNode.baseUrl, fileNode.adminKey);
    const { body } = await rest.call("POST", "/api/tenants", { name: "other", issue_admin_key: true });
    const other = objectClient(fileNode.baseUrl, body.data.admin_key);
    const stream = await client.createStream();
    const { path } = await client.deliver(stream, randomBytes(10));
    const codes = await outcomes(other, stream, path.slice(-26));
    assert.deepEqual(new Set(Object.values(codes)), new Set(["NOT_FOUND"]));
    // An object of another stream of the same tenant is not found either.
    const second = await client.createStream();
    assert.equal((await client.raw("GET", `${second}/objects/${path.slice(-26)}`)).status, 404);
  });

  test("readers download, writers deliver, and the pins narrow both", async () => {
    const reader = objectClient(fileNode.baseUrl, await keyWith(fileNode, { scopes: ["workflow_stream:read"] }));
    const writer = objectClient(fileNode.baseUrl, await keyWith(fileNode, { scopes: ["workflow_stream:write"] }));
    const stream = await client.createStream();
    const { path } = await client.deliver(stream, randomBytes(10));
    const id = path.slice(-26);
    const denied = "PERMISSION_DENIED";
    assert.deepEqual(await outcomes(reader, stream, id), {
      ...{ prepare: denied, upload: denied, commit: denied, abort: denied, get: "OK", download: "OK" },
    });
    const asWriter = await outcomes(writer, stream, id);
    assert.equal(asWriter.download, denied);
    assert.equal(asWriter.prepare, "OK");

    const pinned = await client.createStream({ authorization: { readers: ["role:auditor"], writers: ["role:admin"] } });
    const { path: pinnedPath } = await client.deliver(pinned, randomBytes(10));
    assert.equal((await client.raw("GET", pinnedPath)).json.errorCode, denied);
    assert.equal((await client.raw("GET", `${pinned}/records`)).json.errorCode, denied);
  });

  test("a stream that redacts payloads accepts no objects, because their bytes would be stored as they are", async () => {
    const stream = await client.createStream({ redaction: [{ path: "/email", action: "drop" }] });
    const announced = { sha256: sha256Of(Buffer.from("{}")), size_bytes: 2, content_type: "application/json" };
    const refused = await client.raw("POST", `${stream}/objects`, Buffer.from(JSON.stringify(announced)), {
      "content-type": "application/json",
    });
    assert.deepEqual([refused.status, refused.json.errorCode], [412, "FAILED_PRECONDITION"]);
    assert.match(refused.json.detail, /cannot be redacted/);
  });

  test("a node of another region neither stores nor returns a byte", async () => {
    const elsewhere = await startService(
      { "objects.file.dir": directory, "server.region": "mars", "auth.bootstrap_api_key": fileNode.adminKey },
      fileNode.databaseUrl,
    );
    const other = objectClient(elsewhere.baseUrl, fileNode.adminKey);
    const stream = await client.createStream();
    const { path } = await client.deliver(stream, randomBytes(10));
    const codes = await outcomes(other, stream, path.slice(-26));
    assert.deepEqual(new Set(Object.values(codes)), new Set(["REGION_NOT_ALLOWED"]));
    await elsewhere.stop();
  });

  test("gRPC uploads in a message and downloads in parts", async () => {
    const stream = await client.createStream();
    const [, , , , runId, , streamId] = stream.split("/") as [string, string, string, string, string, string, string];
    const transport = createGrpcTransport({
      baseUrl: fileNode.baseUrl,
      interceptors: [
        (next) => (request) => {
          request.header.set("x-api-key", fileNode.adminKey);
          return next(request);
        },
      ],
    });
    const grpc = createClient(WorkflowObjectService, transport);
    const bytes = randomBytes(3 * mebibyte);
    const announced = { runId, streamId, sha256: sha256Of(bytes), sizeBytes: BigInt(bytes.length) };
    const { intent } = await grpc.prepareWorkflowObject(announced);
    const object = { runId, streamId, intentId: intent!.id };
    const wrong = grpc.uploadWorkflowObject({ ...object, body: { data: randomBytes(bytes.length) } });
    await assert.rejects(wrong, /SHA-256/);
    await grpc.uploadWorkflowObject({ ...object, body: { data: bytes } });
    assert.equal((await grpc.commitWorkflowObject(object)).sequence, 1n);
    const parts: Uint8Array[] = [];
    for await (const { body, content } of grpc.downloadWorkflowObject({ ...object, range: "bytes=1000000-" })) {
      if (content !== undefined) assert.equal(content.firstByte, 1_000_000n);
      if (body !== undefined) parts.push(body.data);
    }
    assert.ok(parts.length > 2);
    assert.ok(Buffer.concat(parts).equals(bytes.subarray(1_000_000)));
  });
});
