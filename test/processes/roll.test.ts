import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { test } from "node:test";
import { until } from "../harness/until.ts";
import { key, pidsOf, startProcesses } from "./process-fixture.ts";

/** A GOAWAY that names it refuses no request. */
const streamIdMax = 2 ** 31 - 1;

test("SIGHUP replaces every process, and no call of keep-alive, new and HTTP/2 connections is refused or fails", async (t) => {
  const { machine } = await startProcesses(t);
  const before = await pidsOf(machine);
  const failures: unknown[] = [];
  let calls = 0;
  let isDone = false;
  const repeat = async (call: () => Promise<void>) => {
    while (!isDone && failures.length === 0) {
      await call().then(
        () => calls++,
        (error: unknown) => failures.push(error),
      );
    }
  };
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const overHttp1 = async (own: http.Agent | false = agent) => {
    const options = { agent: own, headers: { "x-api-key": key } };
    const request = http.get(`${machine.baseUrl}/api/v2/environments`, options);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    await response.toArray();
    assert.equal(response.statusCode, 200);
  };
  const http2Callers = Array.from({ length: 4 }, () => {
    let session: http2.ClientHttp2Session | undefined;
    let lastServed: number | undefined;
    t.after(() => session?.destroy());
    const call = async (): Promise<void> => {
      // As HTTP/2 says: after a GOAWAY, calls go over a new connection.
      if (session === undefined || session.closed) {
        session = http2.connect(machine.baseUrl).on("goaway", (_, last) => {
          lastServed = last;
        });
      }
      const stream = session.request({ ":path": "/api/v2/environments", "x-api-key": key });
      try {
        const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
        await stream.toArray();
        assert.equal(head[":status"], 200);
      } catch (error) {
        // Node's own client refuses a request that meets a GOAWAY, also one that refuses nothing. HTTP/2 has it repeated.
        if (stream.rstCode !== http2.constants.NGHTTP2_REFUSED_STREAM || lastServed !== streamIdMax) throw error;
        await call();
      }
    };
    return call;
  });
  const callers = Promise.all(
    [
      ...Array.from({ length: 6 }, () => () => overHttp1()),
      // A new connection for each call.
      ...Array.from({ length: 4 }, () => () => overHttp1(false)),
      ...http2Callers,
    ].map(repeat),
  );
  await until(() => calls > 200 || failures.length > 0);
  machine.process.kill("SIGHUP");
  const after = await until(
    () => pidsOf(machine),
    (pids) => pids.every((pid) => !before.includes(pid)),
  );
  // The callers go on with the new processes.
  const seen = calls;
  await until(() => calls > seen + 200 || failures.length > 0);
  isDone = true;
  await callers;
  assert.deepEqual(failures, []);
  assert.equal(new Set(after).size, 2);
});
