// A receiver to try deliveries with: answers every request with 200, and writes each down as a line of JSON.
//
//   node docs/guides/receiver.mjs <folder>      <folder>/url: where it listens; <folder>/received: what it got
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const [folder] = process.argv.slice(2);
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const headers = Object.entries(request.headers).filter(([name]) => name.startsWith("webhook-"));
  appendFileSync(`${folder}/received`, `${JSON.stringify({ headers: Object.fromEntries(headers), body })}\n`);
  response.end();
});
server.listen(0, "127.0.0.1", () => {
  writeFileSync(`${folder}/url.new`, `http://127.0.0.1:${server.address().port}`);
  renameSync(`${folder}/url.new`, `${folder}/url`);
});
// Nobody need remember to stop it.
setTimeout(() => process.exit(), 600_000);
