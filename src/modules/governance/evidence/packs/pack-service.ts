import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { requireEnvironment } from "../../../../platform/access/index.ts";
import { notFound, updateRefusal } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { newStamps } from "../../../../platform/records/index.ts";
import { type Artifact, artifactsMax, type Pack, type PackTexts, packDigest } from "../domain/pack.ts";
import { requirementsVersion } from "../domain/requirements.ts";
import { isSameArtifact } from "../domain/subject.ts";
import type { Candidate, Candidates } from "../gates/gate-service.ts";
import { requireIdentifier } from "../identifiers.ts";
import type { LockedPack, PackChanges } from "./pack-changes.ts";
import { packStore } from "./pack-store.ts";

interface Dependencies {
  readonly changes: PackChanges;
  readonly candidates: Candidates;
}

export type PackService = ReturnType<typeof createPackService>;

export function createPackService({ changes, candidates }: Dependencies) {
  /** Attaches a locked pack to a promotion, which pins its artifacts and demands. */
  async function attachLocked(context: Context, locked: LockedPack, candidate: Candidate): Promise<Pack> {
    const { pack, now } = locked;
    const { sql, tenantId } = context;
    if (pack.environmentId !== candidate.environmentId) throw wrongEnvironment();
    if (candidate.hasEnded) throw refusal("The promotion has ended.");
    const held = pack.attachment?.candidateId;
    if (held !== undefined && held !== candidate.id && !(await isOver(context, held))) {
      throw refusal(`The pack is attached to the promotion ${held}, which has not ended.`);
    }
    const other = await packStore(sql).findAttached(tenantId, candidate.id);
    if (other !== undefined && other !== pack.id)
      throw refusal(`The promotion already has the evidence pack ${other}.`);
    const artifacts = await packStore(sql).readArtifacts(tenantId, pack.id);
    const missing = candidate.subjects.filter(
      (subject) => !artifacts.some((each) => isSameArtifact(subject, each) && subject.sha256 === each.sha256),
    );
    if (missing.length > 0) {
      const names = missing.map(({ kind, name, version }) => `${kind} ${name} ${version}`);
      throw refusal(`The pack does not contain these artifacts of the promotion: ${names.join(", ")}.`);
    }
    const pinned = { candidateId: candidate.id, revision: pack.revision, digest: pack.digest, attachedAt: now };
    const attachment = held === candidate.id ? pack.attachment : pinned;
    const attached = await changes.commit(context, locked, { ...pack, status: "attached", attachment });
    const data = { candidate_id: candidate.id, revision: pack.revision, digest: pack.digest };
    await changes.record(context, "evidence.pack.attached", attached, data);
    return attached;
  }

  async function isOver({ sql, tenantId }: Context, candidateId: string): Promise<boolean> {
    const candidate = await candidates.find(sql, tenantId, candidateId);
    return candidate === undefined || candidate.hasEnded;
  }

  return {
    async createPack(context: Context, environmentId: string, texts: PackTexts): Promise<Pack> {
      const { id, key, mode } = await requireEnvironment(context, environmentId);
      const pack: Omit<Pack, "digest"> = {
        ...texts,
        ...{ tenantId: context.tenantId, id: ulid(context.nowMs) },
        ...{ environmentId: id, environmentKey: key, environmentMode: mode },
        ...{ status: "open", requirementsVersion, revision: 1, attachment: undefined, archivedAt: null },
        ...{ gateState: "closed", ...newStamps(context.nowMs) },
      };
      const created = await packStore(context.sql).insert({ ...pack, digest: packDigest(pack, [], []) });
      await changes.record(context, "evidence.pack.created", created, { digest: created.digest });
      return created;
    },

    async updatePack(
      context: Context,
      environmentId: string,
      id: string,
      texts: PackTexts,
      expectedVersion: number | undefined,
    ): Promise<Pack> {
      const locked = await changes.lock(context, environmentId, id, "update");
      const { pack } = locked;
      if ((expectedVersion ?? pack.recordVersion) !== pack.recordVersion) throw updateRefusal(pack, "evidence pack");
      const updated = await changes.commit(context, locked, { ...pack, ...texts, revision: pack.revision + 1 });
      const { revision, digest } = updated;
      await changes.record(context, "evidence.pack.updated", updated, { revision, digest });
      return updated;
    },

    async addArtifact(context: Context, environmentId: string, id: string, artifact: Artifact): Promise<Pack> {
      requireIdentifier("artifact.name", artifact.name);
      requireIdentifier("artifact.version", artifact.version);
      const locked = await changes.lock(context, environmentId, id, "add_artifact");
      const { pack } = locked;
      const store = packStore(context.sql);
      const artifacts = await store.readArtifacts(pack.tenantId, pack.id);
      const replaced = artifacts.find((each) => each.kind === artifact.kind && each.name === artifact.name);
      if (replaced === undefined && artifacts.length >= artifactsMax) {
        throw fail("FAILED_PRECONDITION", { public: `A pack can have at most ${artifactsMax} artifacts.` });
      }
      await store.putArtifact(pack.tenantId, pack.id, artifact);
      const updated = await changes.commit(context, locked, { ...pack, revision: pack.revision + 1 });
      const { kind, name, version, sha256 } = artifact;
      const data = { kind, name, version, sha256, replaced_sha256: replaced?.sha256 ?? "", revision: updated.revision };
      await changes.record(context, "evidence.artifact.added", updated, data);
      return updated;
    },

    async archivePack(context: Context, environmentId: string, id: string): Promise<Pack> {
      const locked = await changes.lock(context, environmentId, id, "archive");
      const { pack, now } = locked;
      const candidateId = pack.attachment?.candidateId;
      if (candidateId !== undefined && !(await isOver(context, candidateId))) {
        throw refusal(`The pack is attached to the promotion ${candidateId}, which has not ended.`);
      }
      const archived = await changes.commit(context, locked, { ...pack, status: "archived", archivedAt: now });
      await changes.record(context, "evidence.pack.archived", archived);
      return archived;
    },

    async attachPack(context: Context, environmentId: string, id: string, candidateId: string): Promise<Pack> {
      // Lock the promotion before the pack, like the commit of a promotion does, to avoid deadlocks.
      const candidate = await candidates.setPack(context, candidateId, id);
      const locked = await changes.lock(context, environmentId, id, "attach");
      return attachLocked(context, locked, candidate);
    },

    /** Attaches a pack to a promotion in the transaction that creates the promotion. */
    async attachToNew(context: Context, packId: string, candidate: Candidate): Promise<Pack> {
      const found = await packStore(context.sql).find(context.tenantId, packId);
      if (found === undefined) throw notFound("evidence pack");
      if (found.environmentId !== candidate.environmentId) throw wrongEnvironment();
      await candidates.setPack(context, candidate.id, packId);
      return attachLocked(context, await changes.lock(context, found.environmentId, packId, "attach"), candidate);
    },
  };
}

function wrongEnvironment() {
  return refusal("The pack belongs to another environment than the promotion.");
}

function refusal(text: string) {
  return fail("FAILED_PRECONDITION", { public: text });
}
