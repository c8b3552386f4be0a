import {
  createClient,
  type EvidenceReceipt,
  type EvidenceSubjectInput,
} from "../../../clients/typescript/src/index.ts";
import { version } from "../../app/version.ts";
import { type Connection, credentials } from "../connection/connection.ts";
import { CliError, exitCodes, usageError } from "../exit-codes.ts";
import type { ProofReport } from "./report.ts";

/** An evidence pack that gets the receipt of a run. */
export interface EvidencePack {
  addReceipt(report: ProofReport): Promise<EvidenceReceipt>;
}

const results = { held: "passed", broken: "failed", incomplete: "blocked", failed: "blocked" } as const;
const statuses = { held: "passed", broken: "failed", "not tested": "not_applicable" } as const;

/** Finds a pack of a running service by its environment and its id, so that a mistake is known before the run. */
export async function findEvidencePack({ address, key }: Connection, name: string): Promise<EvidencePack> {
  const [environment_id, pack_id, rest] = name.split("/");
  if (!environment_id || !pack_id || rest !== undefined) {
    throw usageError(
      `An evidence pack is <environment>/<pack> (for example: lab/01M7SMXFMBAF65JWWQK2SS2BSJ), not ${name}`,
    );
  }
  const served = await readVersion(address);
  if (served !== version) {
    const message = `The service at ${address} has the version ${served}, and a proof by this command is about ${version}.`;
    throw new CliError(message, exitCodes.failed);
  }
  const { rolloutEvidences } = createClient({ baseUrl: address, headers: credentials(key) });
  const { artifacts } = await rolloutEvidences.getPack({ environment_id, pack_id });
  // The artifacts as they are now: one that changes during the run gets no receipt.
  const subjects = artifacts.flatMap(({ kind, name, version, sha256 }) =>
    isSubjectKind(kind) ? [{ kind, name, version, sha256 }] : [],
  );
  if (subjects.length === 0) {
    throw new CliError(`The evidence pack ${name} has no artifacts that are promoted.`, exitCodes.failed);
  }
  return {
    addReceipt({ promises, ...report }) {
      return rolloutEvidences.addReceipt({
        ...{ environment_id, pack_id, type: "proof", result: results[report.verdict] },
        subjects,
        cases: promises.map(({ id, status }) => ({ id, status: statuses[status] })),
        tool: { name: "service-prove", version: report.version },
        details: { ...report, tested: Object.fromEntries(promises.map(({ id, tested }) => [id, tested])) },
      });
    },
  };
}

/** The version of a running service. */
async function readVersion(address: string): Promise<string> {
  const document = await (await fetch(new URL("/openapi.yaml", address))).text();
  return /^ {2}version: "?([^"\n]+)/m.exec(document)?.[1] ?? "unknown";
}

/** Whether artifacts of a kind are promoted, so that a receipt can be about them. */
function isSubjectKind(kind: string): kind is EvidenceSubjectInput["kind"] {
  return ["routing", "workflow", "connector", "strategy"].includes(kind);
}
