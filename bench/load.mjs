// A cheap load generator: raw sockets, one request in flight on each, requests prepared in advance.
// Runs as a separate process: node bench/load.mjs '{"port":…,"connections":64,"seconds":5,"request":{…}}'
import { readFileSync } from "node:fs";
import net from "node:net";

const { port, pid, connections, seconds, warmupSeconds = 1, request } = JSON.parse(process.argv[2]);
// `uniqueText` is a text in the body of at least 16 characters; each request has another one of the same length instead.
const { method, path, headers, body = "", uniqueKey = false, uniqueText = "" } = request;
const head =
  `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
  Object.entries({ ...headers, ...(body !== "" && { "content-length": Buffer.byteLength(body) }) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
const run = Math.random().toString(36).slice(2);
let sent = 0;

const latencies = [];
let errors = 0;
let measuring = false;
let stopping = false;

function nextRequest() {
  const key = uniqueKey ? `idempotency-key: ${run}-${sent++}\r\n` : "";
  const own = uniqueText === "" ? body : body.replaceAll(uniqueText, numbered(uniqueText.length));
  return `${head}${key}\r\n${own}`;
}

function numbered(length) {
  return run.slice(0, 6).padEnd(6, "0") + String(sent++).padStart(length - 6, "0");
}

function connect() {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
    let received = "";
    let startedAt = 0;
    const send = () => {
      startedAt = performance.now();
      socket.write(nextRequest());
    };
    socket.setEncoding("latin1");
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      received = received === "" ? chunk : received + chunk;
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      // An answer with status 204 has no body and no length.
      const length = received.startsWith("HTTP/1.1 204") ? 0 : /content-length: (\d+)/i.exec(received)?.[1];
      if (length === undefined || received.length < end + 4 + Number(length)) return;
      if (measuring) {
        latencies.push(performance.now() - startedAt);
        if (!received.startsWith("HTTP/1.1 2")) errors++;
      }
      received = "";
      if (stopping) socket.end();
      else send();
    });
    socket.on("error", () => errors++);
    socket.on("close", resolve);
  });
}

/** The CPU time of the measured process. A tick is 10 ms on common Linux systems; elsewhere it is not reported. */
function cpuMs() {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

const all = Array.from({ length: connections }, connect);
await new Promise((resolve) => setTimeout(resolve, warmupSeconds * 1000));
measuring = true;
const measuredFrom = performance.now();
const cpuFromMs = cpuMs();
await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
measuring = false;
const took = (performance.now() - measuredFrom) / 1000;
const cpuTookMs = cpuMs() - cpuFromMs;
stopping = true;
setTimeout(() => process.exit(1), 10_000).unref();
await Promise.all(all);
latencies.sort((a, b) => a - b);
const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
process.stdout.write(
  JSON.stringify({
    perSecond: latencies.length / took,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    count: latencies.length,
    cpuUs: (cpuTookMs * 1000) / latencies.length,
    errors,
  }),
);
