import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { imageConfig } from "../../scripts/image/image-config.ts";
import { loadConfig } from "../../src/config/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests check documents against their schemas.
export type Document = any;

/** The folder of the deployment files. */
export const deploy: string = join(import.meta.dirname, "../../deploy");

/** Values for what the examples leave open. */
export const secrets = {
  SERVICE_DATABASE_URL: "postgres://switchyard:password@127.0.0.1:5432/switchyard",
  SERVICE_AUTH_BOOTSTRAP_API_KEY: `sk_live_admin_${randomBytes(24).toString("hex")}`,
  SERVICE_CONNECTOR_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
};

/** The environment that the image sets. */
export const imageEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  imageConfig.Env.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
);

export function readDeploy(path: string): Promise<string> {
  return readFile(join(deploy, path), "utf8");
}

/** Reads compose.yaml as an engine does, with a filled .env.example. */
export async function readCompose(): Promise<Document> {
  const example = (await readDeploy(".env.example")).matchAll(/^(\w+)=(.*)$/gm);
  const env: Record<string, string> = {
    ...Object.fromEntries(Array.from(example, ([, name, value]) => [name!, value!])),
    POSTGRES_PASSWORD: "password",
    SWITCHYARD_ADMIN_KEY: secrets.SERVICE_AUTH_BOOTSTRAP_API_KEY,
    SWITCHYARD_ENCRYPTION_KEY: secrets.SERVICE_CONNECTOR_ENCRYPTION_KEY,
  };
  const text = (await readDeploy("compose.yaml")).replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name, kind, word) => {
      assert.ok(name in env || kind === "-", `.env.example has ${name}`);
      return env[name] || (kind === "-" ? word : "");
    },
  );
  return parse(text, { merge: true });
}

/** The longest time of a stop, by the settings. */
export function stopSeconds(environment: Readonly<Record<string, string>>): number {
  const { config } = loadConfig({ environment: { ...imageEnvironment, ...environment, ...secrets } });
  return config["server.drain_s"] + config["server.shutdown_grace_s"];
}
