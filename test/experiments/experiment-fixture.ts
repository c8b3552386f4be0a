import { freshName, type Party, type ResponseData } from "../routing/tenant-fixture.ts";

const base = "/api/experiments";

/** Two variants of equal weight. */
export const twoVariants = [
  { key: "control", weight: 50 },
  { key: "treatment", weight: 50 },
];

/** Creates a draft; returns it. */
export async function createDraft(party: Party, fields: object = {}): Promise<ResponseData> {
  const draft = { key: `e-${freshName()}`, variants: twoVariants, metrics: [{ key: "revenue", type: "mean" }] };
  return (await party.ok("POST", base, { ...draft, ...fields })).data;
}

/** Creates and starts an experiment; returns it. */
export async function startExperiment(party: Party, fields: object = {}): Promise<ResponseData> {
  const { id } = await createDraft(party, fields);
  return (await party.ok("POST", `${base}/${id}/start`, {})).data;
}

/** Assigns a unit; returns the assignment. */
export async function assign(party: Party, id: string, unit: string, fields: object = {}): Promise<ResponseData> {
  return (await party.ok("POST", `${base}/${id}/assign`, { unit, ...fields })).data;
}

/** Assigns many units; returns the assignments. */
export async function assignAll(party: Party, id: string, units: readonly string[]): Promise<ResponseData[]> {
  const all: ResponseData[] = [];
  for (let at = 0; at < units.length; at += 1000) {
    const batch = units.slice(at, at + 1000).map((unit) => ({ unit }));
    all.push(...(await party.ok("POST", `${base}/${id}/assign:batch`, { units: batch })).data.assignments);
  }
  return all;
}

/** Records scores; returns their results. */
export async function scoreAll(party: Party, id: string, scores: readonly object[]): Promise<ResponseData[]> {
  return (await party.ok("POST", `${base}/${id}/scores:batch`, { scores })).data.results;
}

/** The results. */
export async function results(party: Party, id: string): Promise<ResponseData> {
  return (await party.ok("GET", `${base}/${id}/results`)).data;
}
