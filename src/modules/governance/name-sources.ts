import { inEnvironment, nameSource } from "../name-source.ts";

/** The names of what changes are proven with. */
export const governanceNames = [
  nameSource("promotion", "promotion:read", "promotion_candidates", inEnvironment),
  nameSource("evidence_pack", "evidence:read", "evidence_packs", inEnvironment),
];
