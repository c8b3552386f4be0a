// A broadcast through a provider, compared with a bare loop that posts the same messages to the same gateway.
import { once } from "node:events";
import http from "node:http";
import { until } from "./call.mjs";
import { fillTopic } from "./members.mjs";

/** The concurrency of the broadcast lane. */
const atOnce = 64;

export async function measureDispatch({ call, sql, members }) {
  let received = 0;
  const gateway = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      received++;
      response.writeHead(200, { "content-type": "application/json" }).end('{"message_id":"m"}');
    });
  });
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const url = `http://127.0.0.1:${gateway.address().port}/`;
  try {
    const barePerSecond = await bareLoop(url, members);
    await call("PUT", "/api/v2/notification/workflows/texts", {
      channels: { sms: { body: "Order {{ payload.order }}" } },
    });
    const connection = await call("POST", "/api/v2/connector/connections", {
      name: "gateway",
      provider_key: "http_sms",
      settings: { url, from: "bench" },
      credentials: { token: "t" },
    });
    const integration = {
      channel: "sms",
      name: "gateway",
      provider_key: "http_sms",
      connection_id: connection.data.id,
    };
    await call("POST", "/api/v2/notification/integrations", integration);
    await fillTopic(call, sql, "telephones", members, { phone: true });
    received = 0;
    const startedAt = performance.now();
    await call("POST", "/api/v2/notifications/trigger", {
      workflow_key: "texts",
      topic: "telephones",
      payload: { order: 7 },
    });
    await until(() => received >= members);
    const perSecond = members / ((performance.now() - startedAt) / 1000);
    return { members, perSecond, barePerSecond, toBareLoop: perSecond / barePerSecond };
  } finally {
    gateway.close();
    gateway.closeAllConnections();
  }
}

async function bareLoop(url, count) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
  const post = async (n) => {
    const request = http.request(url, { agent, method: "POST", headers: { "content-type": "application/json" } });
    request.end(JSON.stringify({ id: n, to: "+4930901820", from: "bench", text: "Order 7" }));
    const [response] = await once(request, "response");
    response.resume();
    await once(response, "end");
  };
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await post(next++);
    }),
  );
  agent.destroy();
  return count / ((performance.now() - startedAt) / 1000);
}
