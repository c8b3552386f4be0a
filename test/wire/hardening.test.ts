import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { before, test } from "node:test";
import { catalogue } from "../../src/errors/index.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

let service: TestService;
let rest: RestClient;
before(async () => {
  service = await startService({ "cors.allowed_origins": "https://console.example,https://other.example" });
  rest = restClient(service.baseUrl, service.adminKey);
});

/** Sends a request with an arbitrary Host, which fetch does not allow. */
async function asHost(baseUrl: string, host: string, path = "/health"): Promise<{ status: number; text: string }> {
  const request = http.request(baseUrl + path, { headers: { host } }).end();
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return { status: response.statusCode!, text: (await response.toArray()).join("") };
}

test("only requests for a listed Host are accepted, on every path", async () => {
  for (const host of ["localhost", "LOCALHOST:8080", "127.0.0.1", "[::1]:80", "0.0.0.0"]) {
    assert.equal((await asHost(service.baseUrl, host)).status, 200, host);
  }
  for (const host of ["evil.example", "localhost.evil.example", "localhost:80:80", "127.0.0.1.nip.io"]) {
    for (const path of ["/health", "/api/tenants", "/docs", "/service.api.TenantService/ListTenants", "/nowhere"]) {
      const { status, text } = await asHost(service.baseUrl, host, path);
      assert.equal(status, 403, `${host}${path}`);
      assert.equal(JSON.parse(text).errorCode, "HOST_NOT_ALLOWED");
    }
  }
});

test("the list of Hosts can be configured, or allow any", async () => {
  const named = await startService({ "api.allowed_hosts": "api.example" });
  assert.equal((await asHost(named.baseUrl, "api.example:443")).status, 200);
  assert.equal((await asHost(named.baseUrl, "localhost")).status, 403);
  const any = await startService({ "api.allowed_hosts": "*" });
  assert.equal((await asHost(any.baseUrl, "whatever.example")).status, 200);
});

test("browsers may call from listed origins, and from no others", async () => {
  const preflight = (origin: string) =>
    rest.call("OPTIONS", "/api/v2/environments", undefined, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key, content-type, idempotency-key",
    });
  const allowed = await preflight("https://console.example");
  assert.equal(allowed.status, 204);
  assert.equal(allowed.headers.get("access-control-allow-origin"), "https://console.example");
  assert.match(allowed.headers.get("access-control-allow-methods")!, /\bPATCH\b/);
  assert.equal(allowed.headers.get("access-control-allow-headers"), "x-api-key, content-type, idempotency-key");
  assert.equal(allowed.headers.get("vary"), "Origin");
  const refused = await preflight("https://evil.example");
  assert.equal(refused.headers.get("access-control-allow-origin"), null);
  assert.equal(refused.headers.get("access-control-allow-methods"), null);

  for (const path of ["/api/v2/environments", "/api/nowhere"]) {
    const called = await rest.call("GET", path, undefined, { origin: "https://other.example" });
    assert.equal(called.headers.get("access-control-allow-origin"), "https://other.example", "errors can be read too");
    assert.match(called.headers.get("access-control-expose-headers")!, /X-Request-ID/);
    assert.match(called.headers.get("access-control-expose-headers")!, /Retry-After/);
    assert.equal(called.headers.get("access-control-allow-credentials"), null);
    const strange = await rest.call("GET", path, undefined, { origin: "https://evil.example" });
    assert.equal(strange.headers.get("access-control-allow-origin"), null);
    const none = await rest.call("GET", path);
    assert.equal(none.headers.get("access-control-allow-origin"), null);
  }
});

test("without listed origins no cross-origin browser may call", async () => {
  const closed = await startService();
  const answer = await restClient(closed.baseUrl).call("OPTIONS", "/api/v2/environments", undefined, {
    origin: "https://console.example",
    "access-control-request-method": "GET",
  });
  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get("access-control-allow-origin"), null);
});

test("every response carries the headers against content sniffing, framing and referrer leaks", async () => {
  const responses = [
    await rest.call("GET", "/api/v2/environments"),
    await rest.call("GET", "/api/v2/environments/nowhere"),
    await restClient(service.baseUrl).call("GET", "/api/v2/environments"),
    await rest.call("GET", "/nowhere"),
    await rest.call("PUT", "/api/v2/environments"),
    await rest.call("POST", "/service.api.EnvironmentService/ListEnvironments", {}),
    await rest.call("POST", "/service.api.EnvironmentService/Nothing", {}),
    await rest.call("GET", "/health"),
    await rest.call("GET", "/metrics"),
    await rest.call("GET", "/docs"),
    await rest.call("GET", "/openapi.yaml"),
    await rest.call("GET", "/errors/NOT_FOUND"),
    await rest.call("HEAD", "/api/events/subscribe"),
  ];
  for (const { headers, status } of responses) {
    assert.equal(headers.get("x-content-type-options"), "nosniff", String(status));
    assert.equal(headers.get("x-frame-options"), "DENY", String(status));
    assert.equal(headers.get("referrer-policy"), "no-referrer", String(status));
    assert.equal(headers.get("server"), null);
    assert.equal(headers.get("x-powered-by"), null);
  }
});

test("liveness, readiness and metrics need no credentials, under all of their paths", async () => {
  const open = restClient(service.baseUrl);
  for (const path of ["/health", "/healthz", "/livez"]) {
    const { status, body } = await open.call("GET", path);
    assert.equal(status, 200);
    assert.deepEqual(body, { status: "ok" });
  }
  for (const path of ["/ready", "/readyz"]) {
    const { status, body } = await open.call("GET", path);
    assert.equal(status, 200);
    assert.equal(body.status, "ready");
    assert.equal(body.booted, true);
  }
  for (const path of ["/metrics", "/metricsz"]) {
    const { status, text } = await open.call("GET", path);
    assert.equal(status, 200);
    assert.match(text, /^# HELP /m);
  }
  assert.equal((await open.call("HEAD", "/health")).text, "");
});

test("with server.metrics_private, only the metrics listener serves metrics", async () => {
  const secluded = await startService({ "server.metrics_private": "true" });
  for (const path of ["/metrics", "/metricsz"]) {
    for (const plane of [secluded.baseUrl, secluded.internalUrl]) {
      assert.equal((await restClient(plane).call("GET", path)).body.errorCode, "ROUTE_NOT_FOUND");
    }
    assert.match((await restClient(secluded.metricsUrl).call("GET", path)).text, /^# HELP /m);
  }
});

test("read-only paths return 405 for other verbs, with the allowed verbs", async () => {
  const open = restClient(service.baseUrl);
  for (const path of [
    ...["/", "/health", "/healthz", "/livez", "/ready", "/readyz", "/metrics", "/metricsz"],
    ...["/openapi.yaml", "/docs", "/docs/", "/docs/reference.css", "/errors", "/errors/NOT_FOUND"],
  ]) {
    for (const verb of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const { status, headers, body } = await open.call(verb, path);
      assert.equal(status, 405, `${verb} ${path}`);
      assert.equal(headers.get("allow"), "GET, HEAD");
      assert.equal(body.errorCode, "METHOD_NOT_ALLOWED");
    }
  }
  const own = await restClient(service.metricsUrl).call("POST", "/metrics");
  assert.equal(own.status, 405);
  const callback = `/callbacks/notifications/${"0".repeat(26)}/${"0".repeat(26)}`;
  assert.equal((await open.call("PUT", callback)).headers.get("allow"), "GET, POST");
});

test("an unknown service or method is rejected in the caller's protocol", async (t) => {
  for (const path of ["/no.such.v1.Service/Method", "/Service/Method", "/service.api.TenantService/Nothing"]) {
    const json = { "content-type": "application/json", "connect-protocol-version": "1" };
    const connect = await fetch(service.baseUrl + path, { method: "POST", headers: json, body: "{}" });
    assert.equal(connect.status, 404, path);
    assert.equal(((await connect.json()) as { code: string }).code, "unimplemented");

    const web = { "content-type": "application/grpc-web" };
    const grpcWeb = await fetch(service.baseUrl + path, { method: "POST", headers: web });
    assert.equal(grpcWeb.headers.get("content-type"), "application/grpc-web");
    assert.match(await grpcWeb.text(), /grpc-status: 12\r\n/);

    const session = http2.connect(service.baseUrl);
    t.after(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    const [head] = await once(stream.end(Buffer.alloc(5)).resume(), "response");
    assert.equal(head[":status"], 200, path);
    assert.equal(head["content-type"], "application/grpc");
    assert.equal(head["grpc-status"], "12");
  }
  const plain = await fetch(`${service.baseUrl}/no.such.v1.Service/Method`, { method: "POST", body: "{}" });
  assert.equal(((await plain.json()) as { code: string }).code, "unimplemented", "determined by the path alone");
});

test("metrics have their own listener, with nothing else on it and for any Host", async () => {
  const own = restClient(service.metricsUrl, service.adminKey);
  assert.equal((await own.call("GET", "/metrics")).status, 200);
  assert.equal((await asHost(service.metricsUrl, "scraper.example", "/metrics")).status, 200);
  for (const path of ["/api/tenants", "/docs", "/service.api.TenantService/ListTenants"]) {
    assert.equal((await own.call("GET", path)).status, 404, path);
  }
});

test("a node without its database is live but not ready, rejects calls as retryable, and recovers by itself", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const gate = await openGate(database.url);
  t.after(() => gate.close());
  const node = await startService({}, gate.url);
  t.after(() => node.stop());
  const open = restClient(node.baseUrl, node.adminKey);
  assert.equal((await open.call("GET", "/ready")).status, 200);
  assert.equal((await open.call("GET", "/api/v2/environments")).status, 200);
  gate.shut();
  await until(async () => (await open.call("GET", "/ready")).status === 503);
  const { body } = await open.call("GET", "/ready");
  assert.equal(body.status, "not_ready");
  assert.equal(body.components.database.status, "unhealthy");
  assert.doesNotMatch(JSON.stringify(body), /ECONN|postgres|127\.0\.0\.1/);
  assert.equal((await open.call("GET", "/health")).status, 200);
  const refused = await open.call("GET", "/api/v2/environments");
  assert.equal(refused.status, 503);
  assert.equal(refused.body.errorCode, "UNAVAILABLE");
  assert.equal(refused.body.retryable, true);
  gate.open();
  await until(async () => (await open.call("GET", "/ready")).status === 200);
  await until(async () => (await open.call("GET", "/api/v2/environments")).status === 200);
});

test("a degraded node stays ready, unless calls would fail without the missing dependency", async () => {
  const settings = {
    "cache.backend": "redis",
    "cache.redis_url": "redis://127.0.0.1:1",
    "ratelimit.tenant_rps": "100",
  };
  const degraded = await startService(settings);
  const answer = await restClient(degraded.baseUrl).call("GET", "/ready");
  assert.equal(answer.status, 200);
  assert.equal(answer.body.status, "degraded");
  assert.equal(answer.body.components.cache.status, "degraded");
  assert.equal((await restClient(degraded.baseUrl, degraded.adminKey).call("GET", "/api/tenants")).status, 200);
  const closed = await startService({ ...settings, "ratelimit.fail_mode": "closed" });
  const unready = await restClient(closed.baseUrl).call("GET", "/ready");
  assert.equal(unready.status, 503);
  assert.equal(unready.body.components.cache.status, "unhealthy");
  const refused = await restClient(closed.baseUrl, closed.adminKey).call("GET", "/api/tenants");
  assert.equal(refused.body.errorCode, "UNAVAILABLE");
});

test("the type of every error is the URL of a page that explains it, for people and for programs", async () => {
  const { body: problem } = await rest.call("GET", "/api/nowhere");
  const root = problem.type.slice(0, problem.type.lastIndexOf("/"));
  for (const [code, entry] of Object.entries(catalogue)) {
    const page = await fetch(`${root}/${code}`, { headers: { accept: "text/html" } });
    assert.equal(page.status, 200, code);
    assert.match(page.headers.get("content-type")!, /text\/html/);
    assert.ok((await page.text()).includes(code));
    const { data } = (await (await fetch(`${root}/${code}`)).json()) as { data: Record<string, unknown> };
    assert.deepEqual([data.code, data.status, data.retryable], [code, entry.http, entry.retryable]);
  }
  assert.equal((await fetch(`${root}/NO_SUCH_CODE`)).status, 404);
});

test("the operator can configure the base URL of error types", async () => {
  const named = await startService({ "api.errors_url": "https://errors.example/types" });
  const { body } = await restClient(named.baseUrl).call("GET", "/api/tenants");
  assert.equal(body.type, "https://errors.example/types/UNAUTHENTICATED");
});

test("a silent connection does not delay a stopping node", async () => {
  const node = await startService({ "server.shutdown_grace_s": "600" });
  const { hostname, port } = new URL(node.baseUrl);
  const socket = connectTcp(Number(port), hostname);
  const closed = once(socket, "close");
  await once(socket, "connect");
  // The call over another connection returns after the silent one was accepted.
  assert.equal((await fetch(`${node.baseUrl}/health`)).status, 200);
  const startedAtMs = performance.now();
  await node.stop();
  await closed;
  // Without that it would be closed after the 15 seconds of the header timeout.
  assert.ok(performance.now() - startedAtMs < 10_000);
});

/** A proxy to a database that can be closed. It keeps its port, which another program might take. */
async function openGate(databaseUrl: string) {
  const sockets = new Set<Socket>();
  let isShut = false;
  const path = `${socketHost(databaseUrl)}/.s.PGSQL.5432`;
  const server = createServer((inner) => {
    if (isShut) return inner.resetAndDestroy();
    const outer = connectTcp(path);
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        inner.destroy();
        outer.destroy();
      });
    }
    inner.pipe(outer).pipe(inner);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  url.search = "";
  const shut = () => {
    isShut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    shut,
    open: () => {
      isShut = false;
    },
    close: () => {
      server.close();
      shut();
    },
  };
}
