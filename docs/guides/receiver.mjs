// A receiver to try deliveries with. It answers every request with 200 and saves the last one.
//
//   node docs/guides/receiver.mjs <folder>
//
// <folder>/url           the address that it listens on
// <folder>/headers.json  the webhook headers of the last request
// <folder>/body.json     the body of the last request
import { renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const [folder] = process.argv.slice(2);

// Renaming makes a file appear with its whole content.
function save(name, content) {
  writeFileSync(`${folder}/${name}.new`, content);
  renameSync(`${folder}/${name}.new`, `${folder}/${name}`);
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const headers = Object.entries(request.headers).filter(([name]) => name.startsWith("webhook-"));
  save("headers.json", JSON.stringify(Object.fromEntries(headers)));
  save("body.json", body);
  response.end();
});
server.listen(0, "127.0.0.1", () => save("url", `http://127.0.0.1:${server.address().port}`));
// It stops by itself after ten minutes.
setTimeout(() => process.exit(), 600_000);
