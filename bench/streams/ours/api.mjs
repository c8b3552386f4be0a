// Every path and message shape of our API that the bench uses.

const definition = "bench-streams";
// The most streams of one run.
const streamsOfRun = 200;

/** Ceilings that no measurement reaches: nobody acknowledges. */
const pins = {
  ceilings: { unread_items: 10_000_000, unread_bytes: 1e11, total_items: 100_000_000, total_bytes: 1e11 },
};

/** Creates streams of runs that wait; returns { runId, streamId, path } of each. */
export async function createStreams(connection, count) {
  const document = { dsl: "1", key: definition, timeout: "1h", steps: [{ id: "nap", wait_timer: { for: "1h" } }] };
  const published = await connection.send("POST", "/api/workflow-definitions", JSON.stringify({ document }));
  if (published.status !== 409) {
    succeeded("/api/workflow-definitions", published);
    await post(connection, `/api/workflow-definitions/${definition}/publish`, {});
  }
  const streams = [];
  let runId;
  for (let nth = 0; nth < count; nth++) {
    if (nth % streamsOfRun === 0) runId = (await post(connection, "/api/workflow-runs", { definition })).run.id;
    const base = `/api/workflow-streams/runs/${runId}/streams`;
    const { id: streamId } = await post(connection, base, { name: `stream-${nth}`, pins });
    streams.push({ runId, streamId, path: `${base}/${streamId}` });
  }
  return streams;
}

/** Appends a record. */
export async function append(connection, path, payload) {
  succeeded(path, await connection.send("POST", `${path}/records`, JSON.stringify({ payload })));
}

/** Appends many records in one call. */
export async function appendMany(connection, path, payloads) {
  const records = payloads.map((payload) => ({ payload }));
  const { appended } = await post(connection, `${path}/records:batch`, { records });
  if (appended !== payloads.length) throw new Error(`${path}: ${appended} of ${payloads.length} records were appended`);
}

async function post(connection, path, body) {
  return JSON.parse(succeeded(path, await connection.send("POST", path, JSON.stringify(body)))).data;
}

function succeeded(path, { status, body }) {
  if (status >= 300) throw new Error(`${path} answered ${status}: ${body.slice(0, 300)}`);
  return body;
}
