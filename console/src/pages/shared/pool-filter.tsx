import { createPoolService } from "@client/gen/pool";
import { useQuery } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickPool } from "../../palette/picker-sources";
import { PickerFilter } from "../../ui/page";

const pools = createPoolService(transport);
const readMax = 500;

/** The names of the pools, by id. */
export function usePoolNames(): ReadonlyMap<string, string> {
  const list = useQuery(can("pool:read") ? "pool names" : undefined, () => pools.list({ limit: readMax }).page(), {
    live: ["pool."],
  });
  return new Map(list.data?.items.map(({ id, name }) => [id, name]));
}

/** Chooses one pool; the choice is part of the address. */
export function PoolFilter({ name = "pool" }: { readonly name?: string }) {
  return <PickerFilter from={pickPool} label="Pool" name={name} />;
}
