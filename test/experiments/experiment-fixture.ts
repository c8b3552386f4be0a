import { freshName, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

const base = "/api/experiments";

/** Two variants of equal weight. */
export const twoVariants = [
  { key: "control", weight: 50 },
  { key: "treatment", weight: 50 },
];

/** Creates a draft; returns it. */
export async function createDraft(tenant: TenantFixture, fields: object = {}): Promise<ResponseData> {
  const draft = { key: `e-${freshName()}`, variants: twoVariants, metrics: [{ key: "revenue", type: "mean" }] };
  return (await tenant.ok("POST", base, { ...draft, ...fields })).data;
}

/** Creates and starts an experiment; returns it. */
export async function startExperiment(tenant: TenantFixture, fields: object = {}): Promise<ResponseData> {
  const { id } = await createDraft(tenant, fields);
  return (await tenant.ok("POST", `${base}/${id}/start`, {})).data;
}

/** Assigns a unit; returns the assignment. */
export async function assign(
  tenant: TenantFixture,
  id: string,
  unit: string,
  fields: object = {},
): Promise<ResponseData> {
  return (await tenant.ok("POST", `${base}/${id}/assign`, { unit, ...fields })).data;
}

/** Assigns many units; returns the assignments. */
export async function assignAll(tenant: TenantFixture, id: string, units: readonly string[]): Promise<ResponseData[]> {
  const all: ResponseData[] = [];
  for (let at = 0; at < units.length; at += 1000) {
    const batch = units.slice(at, at + 1000).map((unit) => ({ unit }));
    all.push(...(await tenant.ok("POST", `${base}/${id}/assign:batch`, { units: batch })).data.assignments);
  }
  return all;
}

/** Records scores; returns their results. */
export async function scoreAll(tenant: TenantFixture, id: string, scores: readonly object[]): Promise<ResponseData[]> {
  return (await tenant.ok("POST", `${base}/${id}/scores:batch`, { scores })).data.results;
}

/** The results. */
export async function results(tenant: TenantFixture, id: string): Promise<ResponseData> {
  return (await tenant.ok("GET", `${base}/${id}/results`)).data;
}
