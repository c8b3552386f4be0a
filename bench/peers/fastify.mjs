// The peer: bare Fastify with postgres.js, the same read, and a single-row insert; no keys, no checks, no tenants.
import { randomUUID } from "node:crypto";
import Fastify from "fastify";
import postgres from "postgres";

const { DATABASE_URL, DATABASE_HOST, TENANT_ID } = process.env;
const sql = postgres(DATABASE_URL, { max: 16, ...(DATABASE_HOST && { host: DATABASE_HOST }) });
const app = Fastify();
let count = 0;
const run = Date.now()
  .toString(36)
  .toUpperCase()
  .replace(/[ILOU]/g, "0")
  .padStart(10, "0")
  .slice(-10);

app.get("/events/:id", async (request) => {
  const [event] = await sql`
    select tenant_id, id, type, source, subject, time, data from events where tenant_id = ${TENANT_ID} and id = ${request.params.id}`;
  return { data: event, metadata: { request_id: randomUUID() } };
});

app.post("/events", async (request) => {
  const id = `0${run.slice(1)}${String(count++).padStart(16, "0")}`;
  const { type, subject, data } = request.body;
  const [event] = await sql`
    insert into events (tenant_id, id, type, source, subject, time, data)
    values (${TENANT_ID}, ${id}, ${type}, '/peer', ${subject}, ${new Date()}, ${sql.json(data)})
    returning tenant_id, id, type, source, subject, time, data`;
  return { data: event, metadata: { request_id: randomUUID() } };
});

await app.listen({ port: 0, host: "127.0.0.1" });
process.send({ port: app.server.address().port });
