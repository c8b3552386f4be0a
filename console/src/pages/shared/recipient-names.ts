import { createRecipientService } from "@client/gen/recipient";
import { useQuery } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";

const recipients = createRecipientService(transport);
const readMax = 500;

/** The names of the recipients of a pool, by id; undefined until they are loaded. Without a pool nothing is read. */
export function useRecipientNames(poolId: string | undefined): ReadonlyMap<string, string> | undefined {
  const isRead = poolId !== undefined && can("recipient:read");
  const list = useQuery(
    isRead ? `recipient names ${poolId}` : undefined,
    () => recipients.list({ pool_id: poolId!, limit: readMax }).page(),
    { live: ["recipient."] },
  );
  return list.data && new Map(list.data.items.map(({ id, name }) => [id, name]));
}
