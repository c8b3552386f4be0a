// A provider's API in a process of its own: it answers every request with a small JSON document.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";

export async function startApi() {
  const child = fork(import.meta.filename, ["serve"], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [port] = await once(child, "message");
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

if (process.argv[2] === "serve" && process.send !== undefined) {
  const body = JSON.stringify({ id: "n1", text: "hello", created_at: "2030-01-31T09:00:00Z" });
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
      response.end(body);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}
