import { snakeCase } from "../text/index.ts";

/** What an operation does, as far as corrections depend on it. */
interface Effect {
  /** The name of the method, such as `DeletePool`. */
  readonly method: string;
  readonly action: string;
  readonly verbs: readonly string[];
  readonly isDestructive: boolean;
}

/** Methods and actions that delete something, end it, or give access. */
const ends =
  "Abort|Archive|Cancel|Clear|Close|Delete|Disable|Discard|Drain|Erase|Purge|Remove|Revoke|Rotate|SignOut|Stop|Uninstall|Void|Yank";
const gives = "Approve|CreateLoginLink|CreateSubscriberToken|Grant|Promote|Roll[Bb]ack|Trust";
/** Those that change whatever a filter selects. */
const bulk = "ChangeWorkflowRuns|Start\\w+Operation";
const guardedMethods = new RegExp(`^(?:${ends}|${gives}|${bulk})`);
const guardedActions: ReadonlySet<string> = new Set(["delete", "purge", "trust", "approve", "admin", "access", "hold"]);

/** Choices that end or delete something. */
const guardedValue = /(?:^|_)(?:cancel|delete|disabled|discard|drain|drop|purge|replace|revoke|suspended)(?:_|$)/i;

/** Words in the names of fields that decide about access, about what may be spent, and about what is deleted. */
const access =
  "scopes?|roles?|permissions?|grants?|access|allow|allows|allowed|trust|trusted|admin|public|origins|entitlements?|owner|expires|environment_mode";
const spend = "limits?|quotas?|budgets?|prices?|amounts?|credits?|currency";
const deletion = "force|confirm|all|delete|deletes|deleted|purge|erase|retention|ttl";
const guardedWords = new RegExp(`(?:^|_)(?:${access}|${spend}|${deletion})(?:_|$)`);

/**
 * Whether a correction could widen access, spend or delete. Such mistakes are only named, however clear the correction
 * seems: somebody else may apply it without reading it.
 */
export function isGuarded(effect: Effect): boolean {
  const { method, action, verbs, isDestructive } = effect;
  return isDestructive || guardedActions.has(action) || guardedMethods.test(method) || verbs.includes("DELETE");
}

/** Whether a word of a command is such a verb. */
export function isGuardedVerb(word: string): boolean {
  return guardedMethods.test(word.slice(0, 1).toUpperCase() + word.slice(1));
}

/** Whether a corrected value is guarded in every operation that changes something. */
export function isGuardedValue(value: unknown): boolean {
  return [value].flat().some((each) => typeof each === "string" && guardedValue.test(each));
}

/** Whether a field, or one that contains it, is guarded in every operation. */
export function isGuardedField(names: readonly string[]): boolean {
  return names.some((name) => guardedWords.test(snakeCase(name).replaceAll("-", "_")));
}
