// Traffic for a guide: routes one item per key and reports that it succeeded. It needs no packages.
//
//   ADDRESS=http://127.0.0.1:8080 KEY=… node docs/guides/traffic.mjs <pool id> <prefix of the keys> <number of keys>
const { ADDRESS, KEY } = process.env;
const [pool_id, prefix, count] = process.argv.slice(2);

async function post(path, body) {
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  const response = await fetch(ADDRESS + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).data;
}

const items = Array.from({ length: Number(count) }, (_, n) => ({ pool_id, type: "lead", key: `${prefix}-${n}` }));
const { results } = await post("/api/route:batch", { items });
for (const { decision } of results) {
  await post("/api/outcomes", { decision_id: decision.decision_id, status: "success", latency_ms: 20 });
}
console.log(`${results.length} items`);
