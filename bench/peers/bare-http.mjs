// The limit: Node's own HTTP server with a constant response.
import http from "node:http";

const body = JSON.stringify({ data: { id: "01J0000000000000000000000A" } });
const server = http.createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
