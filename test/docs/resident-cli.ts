import { readFile, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { run } from "../../src/cli/run.ts";
import { afterFile } from "../harness/after-file.ts";

/**
 * Serves command lines in this process, because starting a process for each of the hundreds of commands in the guides takes
 * most of their time. Returns the definition of a shell function `service`.
 */
export async function startResidentCli(): Promise<string> {
  const server = http.createServer(async (request, response) => {
    const folder = await text(request);
    await runIn(folder).catch((error) => writeFile(`${folder}/err`, String(error)));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(() => server.close());
  const { port } = server.address() as AddressInfo;
  return `
service() {
  # The guides start these in the background and kill them.
  case "\${2-}" in tail | watch | work) exec service "$@" ;; esac
  local folder code=70
  folder=$(mktemp -d)
  printf '%s\\0' "$@" > "$folder/words"
  env -0 > "$folder/env"
  if [[ " $* " == *" - "* ]]; then cat > "$folder/in"; fi
  curl -sS "http://127.0.0.1:${port}" --data-binary "$folder"
  if [ -f "$folder/code" ]; then code=$(<"$folder/code"); fi
  if [ -f "$folder/out" ]; then cat "$folder/out"; fi
  if [ -f "$folder/err" ]; then cat "$folder/err" >&2; fi
  rm -r "$folder"
  return "$code"
}`;
}

/** Runs the command line of a folder, and writes its output and exit code there. */
async function runIn(folder: string): Promise<void> {
  const listIn = async (name: string) => (await readFile(`${folder}/${name}`, "utf8")).split("\0").slice(0, -1);
  const pairs = (await listIn("env")).map((pair) => [
    pair.slice(0, pair.indexOf("=")),
    pair.slice(pair.indexOf("=") + 1),
  ]);
  const out: Buffer[] = [];
  const err: string[] = [];
  const code = await run(await listIn("words"), {
    env: Object.fromEntries(pairs),
    terminal: false,
    columns: Number.POSITIVE_INFINITY,
    out: (chunk) => void out.push(Buffer.from(chunk)),
    err: (chunk) => void err.push(chunk),
    input: () => readFile(`${folder}/in`, "utf8"),
  });
  await writeFile(`${folder}/out`, Buffer.concat(out));
  await writeFile(`${folder}/err`, err.join(""));
  await writeFile(`${folder}/code`, String(code));
}
