import { Failure, invalid } from "../../../../errors/index.ts";
import {
  changedValues,
  checkProfile,
  emptyProfile,
  fieldNamesOf,
  type Profile,
  type ProfileChange,
  type Subscriber,
  type SubscriberUpsert,
} from "./subscriber.ts";

/** The result of one item of a batch. */
export type BatchPlan =
  | { readonly outcome: "created"; readonly profile: Profile }
  | {
      readonly outcome: "updated" | "reactivated";
      readonly current: Subscriber;
      readonly change: ProfileChange;
      /** The API names of the fields that change. */
      readonly fields: readonly string[];
    }
  | { readonly outcome: "unchanged"; readonly current: Subscriber }
  | { readonly outcome: "failed"; readonly failure: Failure };

const textLengths = {
  firstName: ["first_name", 200],
  lastName: ["last_name", 200],
  email: ["email", 320],
  phone: ["phone", 16],
  avatar: ["avatar", 2048],
  locale: ["locale", 64],
  timezone: ["timezone", 64],
} as const;

const externalIdMax = 255;

/** Throws when an item has an invalid value. Its fields have no rules in the definition, which would refuse the batch. */
function checkItem(item: SubscriberUpsert, isEmail: (text: string) => boolean): void {
  const length = [...item.externalId].length;
  if (length === 0 || length > externalIdMax) {
    throw invalid("external_id", "length", `must have 1 to ${externalIdMax} characters`);
  }
  for (const [field, [name, max]] of Object.entries(textLengths) as [keyof typeof textLengths, [string, number]][]) {
    if ([...(item[field] ?? "")].length > max) throw invalid(name, "max_len", `must have at most ${max} characters`);
  }
  checkProfile(item, isEmail);
}

/** Plans each item of a batch; an invalid one fails alone. A deleted subscriber becomes active, unless it is kept. */
export function planBatch(
  items: readonly SubscriberUpsert[],
  stored: ReadonlyMap<string, Subscriber>,
  isEmail: (text: string) => boolean,
  keepDeleted: boolean,
): BatchPlan[] {
  const seen = new Set<string>();
  return items.map((item): BatchPlan => {
    try {
      checkItem(item, isEmail);
      if (seen.has(item.externalId)) throw invalid("external_id", "unique", "is given twice in the batch");
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { outcome: "failed", failure: error };
    }
    seen.add(item.externalId);
    return planItem(item, stored.get(item.externalId), keepDeleted);
  });
}

function planItem(
  { externalId: _, ...given }: SubscriberUpsert,
  current: Subscriber | undefined,
  keepDeleted: boolean,
): BatchPlan {
  if (current === undefined) {
    return { outcome: "created", profile: { ...emptyProfile, ...changedValues(emptyProfile, given) } };
  }
  if (!current.active && keepDeleted) return { outcome: "unchanged", current };
  const change = changedValues(current, given);
  const fields = [...fieldNamesOf(change), ...(current.active ? [] : ["active"])];
  if (fields.length === 0) return { outcome: "unchanged", current };
  return { outcome: current.active ? "updated" : "reactivated", current, change, fields };
}
