import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { before, describe, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";

let service: TestService;
before(async () => {
  service = await startService();
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request over a session and reads the whole response; resolves when the body is also sent. */
async function ask(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body: Buffer,
): Promise<Answer> {
  const stream = session.request({ ":method": "POST", "content-type": "application/json", ...headers });
  let text = "";
  // Not as an async iterable, which would cancel the stream and with it the rest of the body.
  stream.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  const response = once(stream, "response");
  stream.end(body);
  const [[head]] = await Promise.all([response, once(stream, "close")]);
  assert.equal(stream.rstCode, 0);
  return { status: head[":status"], text };
}

const megabyte = Buffer.alloc(1024 * 1024, 0x20);

const refusals: readonly (readonly [
  why: string,
  status: number,
  headers: (key: string) => http2.OutgoingHttpHeaders,
])[] = [
  ["a wrong key", 401, () => ({ ":path": "/api/v2/environments", "x-api-key": "sk_test_nobody_0123456789" })],
  [
    "a wrong key over Connect",
    401,
    () => ({ ":path": "/service.api.EnvironmentService/CreateEnvironment", "x-api-key": "sk_test_nobody_0123456789" }),
  ],
  [
    "a wrong key over gRPC",
    200,
    () => ({
      ":path": "/service.api.EnvironmentService/CreateEnvironment",
      "x-api-key": "sk_test_nobody_0123456789",
      "content-type": "application/grpc",
    }),
  ],
  [
    "a foreign Host",
    403,
    (key) => ({ ":path": "/api/v2/environments", ":authority": "evil.example", "x-api-key": key }),
  ],
  [
    "an unknown API version",
    400,
    (key) => ({ ":path": "/api/v2/environments", "api-version": "1999", "x-api-key": key }),
  ],
  ["an unknown path", 404, (key) => ({ ":path": "/api/nowhere", "x-api-key": key })],
  [
    "a verb that the path does not take",
    405,
    (key) => ({ ":path": "/api/v2/environments", ":method": "PUT", "x-api-key": key }),
  ],
];

// The node reads rejected bodies slowly, so each test mostly waits.
describe("many large bodies", { concurrency: true }, () => {
  for (const [why, status, headers] of refusals) {
    test(`an HTTP/2 connection stays usable after many large bodies that were rejected for ${why}`, async (t) => {
      const session = http2.connect(service.baseUrl);
      t.after(() => session.destroy());
      for (let i = 0; i < 14; i++) {
        assert.equal((await ask(session, headers(service.adminKey), megabyte)).status, status);
      }
      const body = Buffer.from(JSON.stringify({ key: `lab${status}${why.length}` }));
      const served = await ask(session, { ":path": "/api/v2/environments", "x-api-key": service.adminKey }, body);
      assert.equal(served.status, 200, served.text);
    });
  }
});
