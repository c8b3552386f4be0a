import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Health, HealthCheckResponse_ServingStatus } from "../../../../gen/grpc/health/v1/health_pb.ts";
import { fail } from "../../../errors/index.ts";
import { startRpcServer } from "../testing/rpc-server.ts";
import type { HealthSource } from "./health.ts";

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;
const tenants = "service.api.TenantService";

function switchable() {
  const changes = new EventEmitter();
  let down: string | undefined;
  const source: HealthSource = {
    isServing: (service) => service !== down,
    onChange: (listener) => {
      changes.on("change", listener);
      return () => changes.off("change", listener);
    },
  };
  const turnOff = (service: string | undefined) => {
    down = service;
    changes.emit("change");
  };
  return { source, changes, turnOff };
}

const noChain = { invoke: () => Promise.reject(fail("UNAUTHENTICATED")) };

test("Check returns the status of the server and of each service, without credentials", async (t) => {
  const { source, turnOff } = switchable();
  const { url } = await startRpcServer(t, "2", { ...noChain, health: source });
  for (const transport of [
    createGrpcTransport({ baseUrl: url }),
    createConnectTransport({ baseUrl: url, httpVersion: "2" }),
  ]) {
    const client = createClient(Health, transport);
    assert.equal((await client.check({})).status, SERVING);
    assert.equal((await client.check({ service: tenants })).status, SERVING);
    turnOff(tenants);
    assert.equal((await client.check({ service: tenants })).status, NOT_SERVING);
    assert.equal((await client.check({})).status, SERVING);
    turnOff(undefined);
    await assert.rejects(
      client.check({ service: "no.such.Service" }),
      (error: ConnectError) => error.code === Code.NotFound,
    );
  }
});

test("Watch sends the status immediately and after every change, and stops for a watcher that disconnects", async (t) => {
  const { source, changes, turnOff } = switchable();
  const { url } = await startRpcServer(t, "2", { ...noChain, health: source });
  const leave = new AbortController();
  const client = createClient(Health, createGrpcTransport({ baseUrl: url }));
  const watch = client.watch({ service: tenants }, { signal: leave.signal })[Symbol.asyncIterator]();
  const next = async () => (await watch.next()).value?.status;
  assert.equal(await next(), SERVING);
  turnOff("another");
  turnOff(tenants);
  assert.equal(await next(), NOT_SERVING);
  turnOff(undefined);
  assert.equal(await next(), SERVING);
  const forgotten = new Promise((resolve) => changes.once("removeListener", resolve));
  leave.abort();
  await assert.rejects(watch.next(), (error) => ConnectError.from(error).code === Code.Canceled);
  await forgotten;
  assert.equal(changes.listenerCount("change"), 0);
});

test("Watch of an unknown service stays open and sends SERVICE_UNKNOWN", async (t) => {
  const { source } = switchable();
  const { url } = await startRpcServer(t, "2", { ...noChain, health: source });
  const client = createClient(Health, createGrpcTransport({ baseUrl: url }));
  for await (const { status } of client.watch({ service: "no.such.Service" })) {
    assert.equal(status, SERVICE_UNKNOWN);
    break;
  }
});

test("without a health source the protocol is not served", async (t) => {
  const { url } = await startRpcServer(t, "2", { ...noChain, reflection: true });
  const path = "/grpc.reflection.v1.Health/Check";
  const transport = createGrpcTransport({ baseUrl: url });
  const method = { ...Health.method.check, parent: { typeName: path.split("/")[1] } };
  await assert.rejects(
    transport.unary(method as never, undefined, undefined, undefined, {} as never),
    (error: ConnectError) => error.code === Code.Unimplemented,
  );
});
