// Calls of the service that must succeed.
import { authorized } from "../routing/ours/service.mjs";

export async function callOk(port, method, path, body) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: authorized,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path}: ${text}`);
  return JSON.parse(text);
}

/** Polls until a value exists. */
export async function until(look, everyMs = 20) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
