import { freshWord, type Json } from "../../harness/operations.ts";
import { type Known, must, type Party } from "../calls.ts";

/** Pools with records to list, and the values of their parts. */
export const poolRequests: Known = {
  "RecipientService/ListRecipients": async (party) => {
    const pool_id = await makePool(party);
    await makeRecipient(party, pool_id);
    return { pool_id };
  },
  "RecipientService/BatchCreateRecipients": () => ({ recipients: [{ name: freshWord() }] }),
  "RecipientService/ResumeRecipient": async (party) => {
    const recipient_id = await makeRecipient(party, await makePool(party));
    await must("RecipientService/PauseRecipient", party, { recipient_id });
    return { recipient_id };
  },
  "RuleService/CreateRule": () => ({ action: { type: "require" } }),
  "RuleService/ListRules": async (party) => {
    const pool_id = await makePool(party);
    await must("RuleService/CreateRule", party, { pool_id, name: freshWord(), action: { type: "require" } });
    return { pool_id };
  },
};

/** Creates a pool; returns its id. */
export async function makePool(party: Party, more: Json = {}): Promise<string> {
  const { body } = await must("PoolService/CreatePool", party, { name: freshWord(), ...more });
  return body.data.id;
}

/** Creates a pull recipient of a pool; returns its id. */
export async function makeRecipient(party: Party, poolId: string): Promise<string> {
  const { body } = await must("RecipientService/CreateRecipient", party, { pool_id: poolId, name: freshWord() });
  return body.data.id;
}
