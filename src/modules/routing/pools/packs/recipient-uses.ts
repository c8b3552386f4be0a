import type { FindUses } from "../../../pack-records.ts";
import { recipientStore } from "../recipients/recipient-store.ts";

/** Finds the recipients whose items are delivered by actions of a provider. */
export const findRecipientUses: FindUses = async ({ sql, tenantId }, kind, names) => {
  const recipients = kind === "manifest" ? await recipientStore(sql).namesByProvider(tenantId, names) : [];
  return recipients.map((name) => ({ what: "recipient", name }));
};
