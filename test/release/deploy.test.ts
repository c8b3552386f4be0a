import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test, { after } from "node:test";
import { promisify } from "node:util";
import { Ajv } from "@redocly/ajv";
import { parse } from "yaml";
import { imageConfig } from "../../scripts/image/image-config.ts";
import { environmentName, loadConfig, settings } from "../../src/config/index.ts";
import {
  type Document,
  deploy,
  imageEnvironment,
  readCompose,
  readDeploy,
  secrets,
  stopSeconds,
} from "../harness/deployment.ts";
import { type ChartScope, renderTemplate } from "../harness/helm-template.ts";

const run = promisify(execFile);
const source = join(import.meta.dirname, "../..");
// The types of Kubernetes are found from here.
const caches = join(source, "node_modules/.cache");
await mkdir(caches, { recursive: true });
const work = await mkdtemp(join(caches, "deploy-test-"));
after(() => rm(work, { recursive: true, force: true }));

const files = globSync("**/*", { cwd: deploy, withFileTypes: true }).filter((entry) => entry.isFile());
const readManifest = async (name: string): Promise<Document> => parse(await readDeploy(`kubernetes/${name}.yaml`));
const manifestNames = globSync("*.yaml", { cwd: join(deploy, "kubernetes") }).map((file) => file.replace(".yaml", ""));
test("every setting that a file names exists", async () => {
  const known = new Set(Object.keys(settings).map(environmentName));
  const named = new Map<string, string>();
  for (const { parentPath, name } of files)
    for (const [variable] of (await readFile(join(parentPath, name), "utf8")).matchAll(/\bSERVICE_[A-Z0-9_]*[A-Z0-9]/g))
      named.set(variable, name);
  assert.ok(named.size > 10, "the files were read");
  assert.deepEqual(
    [...named].filter(([variable]) => !known.has(variable)),
    [],
  );
});

test("the service accepts the settings of every deployment", async () => {
  const environmentFile = Object.fromEntries(
    (await readDeploy("systemd/switchyard.env.example"))
      .split("\n")
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const { services } = await readCompose();
  const config = await readManifest("config");
  const secret = await readManifest("secret.example");
  assert.deepEqual(Object.keys(secret.stringData).sort(), Object.keys(secrets).sort());
  for (const environment of [
    environmentFile,
    { ...imageEnvironment, ...services["node-1"].environment },
    { ...imageEnvironment, ...services["node-2"].environment },
    { ...imageEnvironment, ...config.data },
  ])
    loadConfig({ environment: { ...environment, ...secrets } });
});

const kinds: Readonly<Record<string, string>> = {
  ConfigMap: "core/v1",
  Deployment: "apps/v1",
  Job: "batch/v1",
  PodDisruptionBudget: "policy/v1",
  Secret: "core/v1",
  Service: "core/v1",
};

/** Checks documents against the published types of the Kubernetes API: unknown, missing and wrong fields are errors. */
async function typeErrors(documents: readonly Document[]): Promise<string> {
  const folder = await mkdtemp(join(work, "types-"));
  const lines = documents.map(({ kind, ...rest }, at) => {
    assert.ok(kind in kinds, kind);
    const text = JSON.stringify({ kind, ...rest }, undefined, 2);
    return `export const object${at}: import("kubernetes-types/${kinds[kind]}").${kind} = ${text};`;
  });
  await writeFile(join(folder, "documents.ts"), lines.join("\n"));
  const flags = "--noEmit --strict --skipLibCheck --module preserve --moduleResolution bundler --types".split(" ");
  return run(
    process.execPath,
    [join(source, "node_modules/typescript-native/bin/tsc"), "--ignoreConfig", ...flags, "", "documents.ts"],
    { cwd: folder },
  ).then(
    () => "",
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
}

test("the manifests have the types of the Kubernetes API", async () => {
  const documents = await Promise.all(manifestNames.map(readManifest));
  assert.equal(documents.length, 6);
  const deployment = structuredClone(await readManifest("deployment"));
  deployment.spec.template.spec.containers[0].readynessProbe = {};
  const [errors, wrong] = [await typeErrors(documents), await typeErrors([deployment])];
  assert.equal(errors, "");
  assert.match(wrong, /readynessProbe/, "a wrong name is found");
});

test("probes, ports and times of the Deployment are those of the image", async () => {
  const { spec } = await readManifest("deployment");
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const image = loadConfig({ environment: imageEnvironment }).config;
  const portOf = (address: string) => Number(address.split(":").at(-1));
  assert.deepEqual(
    Object.fromEntries(container.ports.map(({ name, containerPort }: Document) => [name, containerPort])),
    {
      http: portOf(image["server.http_addr"]),
      grpc: portOf(image["server.grpc_addr"]),
      metrics: portOf(image["server.metrics_addr"]),
    },
  );
  const { data } = await readManifest("config");
  const { config } = loadConfig({ environment: { ...imageEnvironment, ...data, ...secrets } });
  for (const [probe, path] of [
    ["startupProbe", "/ready"],
    ["readinessProbe", "/ready"],
    ["livenessProbe", "/health"],
  ]) {
    const { httpGet } = container[probe!];
    assert.deepEqual([httpGet.path, httpGet.port], [path, "http"]);
    assert.ok(config["api.allowed_hosts"].includes(httpGet.httpHeaders[0].value));
  }
  assert.ok(pod.terminationGracePeriodSeconds > stopSeconds(data));
  // Endpoints are updated only after readiness has failed, or the pod is being deleted, whichever comes first.
  const { periodSeconds, failureThreshold } = container.readinessProbe;
  assert.ok(config["server.drain_s"] >= periodSeconds * failureThreshold);
  const user = Number.parseInt(imageConfig.User, 10);
  for (const { spec: each } of [spec.template, (await readManifest("migration-job")).spec.template]) {
    assert.equal(each.securityContext.runAsUser, user);
    const dataDir = Object.keys(imageConfig.Volumes)[0];
    assert.ok(each.containers[0].volumeMounts.some(({ mountPath }: Document) => mountPath === dataDir));
  }
  const { spec: service } = await readManifest("service");
  const { spec: budget } = await readManifest("disruption-budget");
  assert.deepEqual(service.selector, spec.selector.matchLabels);
  assert.deepEqual(budget.selector, spec.selector);
  assert.deepEqual(spec.template.metadata.labels, spec.selector.matchLabels);
});

const chart = join(deploy, "helm/switchyard");

/** Renders the chart with its values, and those given, by the names of its templates. */
async function renderChart(values: Readonly<Record<string, unknown>> = {}, release = "switchyard") {
  const read = async (name: string): Promise<Document> => parse(await readFile(join(chart, name), "utf8"));
  const { appVersion } = await read("Chart.yaml");
  const defaults = await read("values.yaml");
  const scope: ChartScope = {
    Values: { ...defaults, ...values },
    Release: { Name: release },
    Chart: { AppVersion: appVersion },
  };
  const rendered: Record<string, Document> = {};
  for (const file of globSync("templates/*.yaml", { cwd: chart })) {
    const name = file.replace(/^templates\/|\.yaml$/g, "");
    const document = parse(renderTemplate(await readFile(join(chart, file), "utf8"), scope));
    if (document !== null) rendered[name] = document;
  }
  return rendered;
}

test("the chart renders, by its defaults, what the manifests say", async () => {
  const rendered = await renderChart();
  assert.deepEqual(Object.keys(rendered).sort(), manifestNames.filter((name) => name !== "secret.example").sort());
  const { deployment, service } = rendered;
  const job = rendered["migration-job"];
  // What only the chart has.
  for (const { spec } of [deployment, job]) assert.equal(delete spec.template.spec.containers[0].imagePullPolicy, true);
  assert.match(deployment.spec.template.metadata.annotations["checksum/settings"], /^[0-9a-f]{64}$/);
  delete deployment.spec.template.metadata.annotations;
  assert.equal(service.spec.type, "ClusterIP");
  delete service.spec.type;
  assert.equal(job.metadata.annotations["helm.sh/hook"], "pre-install,pre-upgrade");
  delete job.metadata.annotations;
  // A hook runs before the release's ConfigMap exists, so it has the settings itself.
  const [container] = job.spec.template.spec.containers;
  const { data } = await readManifest("config");
  assert.deepEqual(Object.fromEntries(container.env.map(({ name, value }: Document) => [name, value])), data);
  delete container.env;
  container.envFrom.unshift({ configMapRef: { name: "switchyard" } });
  for (const [name, document] of Object.entries(rendered)) assert.deepEqual(document, await readManifest(name), name);
});

test("every value of the chart is used, and what it renders has the types of the Kubernetes API", async () => {
  const values = {
    replicas: 5,
    image: { repository: "registry.example/switchyard", tag: "1.2.3", pullPolicy: "Always" },
    imagePullSecrets: ["registry"],
    settings: { SERVICE_LOG_LEVEL: "warn" },
    terminationGracePeriodSeconds: 90,
    existingSecret: "from-vault",
    migration: { enabled: true },
    service: { type: "LoadBalancer", annotations: { "example.com/lb": "internal" } },
    resources: { limits: { memory: "3Gi" } },
    podAnnotations: { "prometheus.io/scrape": "true" },
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "dedicated", operator: "Exists" }],
  };
  const schema = JSON.parse(await readFile(join(chart, "values.schema.json"), "utf8"));
  const isValid = new Ajv({ strict: false }).compile(schema);
  const defaults = parse(await readFile(join(chart, "values.yaml"), "utf8"));
  assert.deepEqual(Object.keys(values).sort(), Object.keys(defaults).sort());
  assert.deepEqual(Object.keys(schema.properties).sort(), ["global", ...Object.keys(defaults)].sort());
  for (const each of [defaults, values]) assert.ok(isValid(each), JSON.stringify(isValid.errors));
  assert.ok(!isValid({ ...values, replicaCount: 3 }), "an unknown value is refused");

  const rendered = await renderChart(values, "blue");
  assert.equal(await typeErrors(Object.values(rendered)), "");
  const text = JSON.stringify(rendered);
  for (const part of [
    '"replicas":5',
    '"image":"registry.example/switchyard:1.2.3"',
    '"imagePullPolicy":"Always"',
    '"imagePullSecrets":[{"name":"registry"}]',
    '"data":{"SERVICE_LOG_LEVEL":"warn"}',
    '"env":[{"name":"SERVICE_LOG_LEVEL","value":"warn"}]',
    '"terminationGracePeriodSeconds":90',
    '"secretRef":{"name":"from-vault"}',
    '"type":"LoadBalancer"',
    '"annotations":{"example.com/lb":"internal"}',
    '"resources":{"limits":{"memory":"3Gi"}}',
    '"prometheus.io/scrape":"true"',
    '"nodeSelector":{"disk":"fast"}',
    '"tolerations":[{"key":"dedicated","operator":"Exists"}]',
    '"app.kubernetes.io/name":"blue"',
  ])
    assert.ok(text.includes(part), part);
  assert.ok(!("migration-job" in (await renderChart({ migration: { enabled: false } }))));
});

test("systemd accepts the unit and rates it well protected", async (t) => {
  const version = await run("systemd-analyze", ["--version"]).catch(() => undefined);
  if (version === undefined) return t.skip("This machine has no systemd-analyze.");
  // systemd looks for the program, which is not installed here.
  const unit = join(work, "switchyard.service");
  const text = await readDeploy("systemd/switchyard.service");
  await writeFile(unit, text.replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"));
  const { stdout, stderr } = await run("systemd-analyze", ["verify", unit]);
  assert.equal(`${stdout}${stderr}`, "");
  // The scale is from 0 (protected) to 100 (exposed).
  await run("systemd-analyze", ["security", "--offline=true", "--threshold=20", unit]);
  assert.doesNotMatch(text, /^MemoryDenyWriteExecute=/m, "Node compiles while it runs");
});
