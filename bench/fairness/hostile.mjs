// A hostile tenant as a separate process: node bench/fairness/hostile.mjs '{"kind":"flood","port":…,…}'; ends on
// SIGTERM.
import http from "node:http";

const { kind, port, key, poolId, keyIds } = JSON.parse(process.argv[2]);
const json = { "content-type": "application/json" };
let guesses = 0;

const kinds = {
  /** 500 items for which a valid rule costs the maximum. */
  rules: () => {
    const l = Array.from({ length: 300 }, (_, i) => i);
    const items = Array.from({ length: 500 }, (_, i) => ({
      pool_id: poolId,
      type: "x",
      key: `k${i}`,
      attributes: { l },
    }));
    return { connections: 1, path: "/api/route:batch", body: JSON.stringify({ items }), headers: own };
  },
  /** 300,000 keys, 3.5 MB. */
  bodies: () => {
    const keys = Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`).join();
    const body = `{"pool_id":"${poolId}","type":"x","payload":{${keys}}}`;
    return { connections: 4, path: "/api/route", body, headers: own };
  },
  /** A new wrong secret for an existing key, repeatedly. */
  secrets: () => ({ connections: 32, path: "/api/route", body: "{}", headers: guess }),
  flood: () => {
    const body = JSON.stringify({ pool_id: poolId, type: "x", key: "k" });
    return { connections: 200, path: "/api/route", body, headers: own };
  },
};

function own() {
  return { ...json, "x-api-key": key };
}

function guess() {
  return { ...json, "x-api-key": `${keyIds[guesses++ % keyIds.length]}_wrong-secret-${guesses}` };
}

const { connections, path, body, headers } = kinds[kind]();
const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
let sent = 0;
let refused = 0;

function send() {
  const request = http.request(
    { port, host: "127.0.0.1", method: "POST", path, agent, headers: headers() },
    (response) => {
      sent++;
      if (response.statusCode !== 200) refused++;
      response.resume();
      response.on("end", send);
    },
  );
  request.on("error", () => setTimeout(send, 50));
  request.end(body);
}

for (let i = 0; i < connections; i++) send();
process.on("SIGTERM", () => {
  process.stdout.write(JSON.stringify({ sent, refused }), () => process.exit(0));
});
