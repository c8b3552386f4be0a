// Readers of HTTP responses that are long or never end.
import { Agent, get } from "node:http";
import net from "node:net";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Reads a response; returns its headers after its end. */
export function readAll(port, path, headers, onText) {
  return new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path, headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} answered ${response.statusCode}`));
      response.setEncoding("latin1");
      response.on("data", onText);
      response.on("end", () => resolve(response.headers));
      response.on("error", reject);
    }).on("error", reject);
  });
}

/** Follows server-sent events on a raw socket; resolves with a function that ends it when the response has begun. */
export function followEvents(port, path, headers, onText) {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, accept: "text/event-stream", ...headers });
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
    socket.setEncoding("latin1");
    socket.on("connect", () =>
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`),
    );
    socket.once("data", (text) => {
      if (!text.startsWith("HTTP/1.1 200")) return reject(new Error(`${path} answered ${text.slice(0, 300)}`));
      resolve(() => socket.destroy());
    });
    socket.on("data", onText);
    socket.on("error", reject);
  });
}
