import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Client, createClient } from "../../../../clients/typescript/src/client.ts";
import type { ProcessCalls, StartReport } from "../../../app/processes/process-calls.ts";
import { readOrCreateSecret } from "../../../app/secret-file.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { seedExperiment, seedNotifications } from "./demo-engagement.ts";
import { type DemoPools, seedPromotion, seedRouting } from "./demo-routing.ts";
import { runTraffic } from "./demo-traffic.ts";
import { seedWorkflows } from "./demo-workflows.ts";
import { seedWebhook, seedWorkspace, startReceiver } from "./demo-workspace.ts";

interface Dependencies {
  readonly service: Pick<StartReport, "baseUrl" | "admin"> & Pick<ProcessCalls, "linkApprover">;
  readonly dataDir: string;
  readonly onError: (error: unknown) => void;
}

/** A running demo. */
export interface Demo {
  /** A link that signs a browser in to the demo's tenant, once. */
  readonly loginLink: string;
  /** A link that signs a browser in as a second person, who approves what the first one promotes. */
  readonly approverLink: string;
  stop(): Promise<void>;
}

/** Creates the tenant of the demo unless an earlier start has, and keeps light traffic in it going. */
export async function startDemo({ service, dataDir, onError }: Dependencies): Promise<Demo> {
  const { baseUrl, admin } = service;
  if (admin === undefined) {
    throw new CliError(
      "--demo needs the embedded PostgreSQL and its admin key. Start it without database.url.",
      exitCodes.usage,
    );
  }
  const file = resolve(dataDir, "demo.key");
  const isNew = !existsSync(file);
  const key = isNew ? await createTenant(baseUrl, admin.key) : readFileSync(file, "utf8").trim();
  const client = createClient({ baseUrl, apiKey: key });
  const { pools, experimentId } = isNew ? await seed(client) : await find(client);
  // The key is stored last, so that an interrupted start creates a new tenant and not half a one.
  if (isNew) readOrCreateSecret(file, () => key);
  const receiver = await startReceiver();
  await seedWebhook(client, receiver.url);
  const stopping = new AbortController();
  const traffic = runTraffic({ client, pools, experimentId, signal: stopping.signal, onError });
  const { url } = await client.browserSessions.createLoginLink({});
  const { tenant_id } = await client.browserSessions.getCurrentSession();
  return {
    loginLink: url,
    approverLink: await service.linkApprover(tenant_id),
    async stop() {
      stopping.abort();
      receiver.close();
      await traffic;
    },
  };
}

async function createTenant(baseUrl: string, adminKey: string): Promise<string> {
  const client = createClient({ baseUrl, apiKey: adminKey });
  const slugs = (await client.tenants.list({ limit: 100 }).take(1000)).map(({ slug }) => slug);
  const slug = slugs.includes("acme") ? `acme-${slugs.length}` : "acme";
  const tenant = await client.tenants.create({ name: "Acme", slug, issue_admin_key: true });
  return tenant.admin_key!;
}

async function seed(client: Client): Promise<{ pools: DemoPools; experimentId: string }> {
  const [pools, experimentId] = await Promise.all([
    seedRouting(client).then((pools) => seedPromotion(client, pools.leads).then(() => pools)),
    seedExperiment(client),
    seedNotifications(client).then(() => seedWorkflows(client)),
    seedWorkspace(client),
  ]);
  return { pools, experimentId };
}

/** Finds what an earlier start has created. */
async function find(client: Client): Promise<{ pools: DemoPools; experimentId: string }> {
  const pools = await client.pools.list({ limit: 100 }).take(100);
  const experiments = await client.experiments.list({ key: "checkout" }).take(1);
  const poolId = (name: string) => pools.find((pool) => pool.name === name)?.id ?? "";
  return {
    pools: { tickets: poolId("Support tickets"), leads: poolId("Sales leads"), models: poolId("Language models") },
    experimentId: experiments[0]?.id ?? "",
  };
}
