import { invalid } from "../../../../errors/index.ts";
import { checkCondition } from "../../../../platform/cel/index.ts";
import { requireJsonBytes } from "../../../../platform/document/index.ts";
import { conditionVariables } from "./condition.ts";
import { type OwnLayer, orderedKeys, type RowKeys } from "./layers.ts";
import { channels, type PreferenceSettings } from "./settings.ts";
import { isTimezone } from "./wall-clock.ts";

/** Throws when a condition or the time zone is invalid. Field names in errors start with the path. */
export function checkSettings(path: string, settings: PreferenceSettings): void {
  checkCondition(`${path}condition`, settings.condition, conditionVariables);
  for (const channel of channels) {
    const condition = settings.channels[channel]?.condition ?? "";
    checkCondition(`${path}channels.${channel}.condition`, condition, conditionVariables);
  }
  const timezone = settings.schedule?.timezone ?? "";
  if (timezone !== "" && !isTimezone(timezone)) {
    const message = "must be an IANA time zone name (for example: Europe/Berlin)";
    throw invalid(`${path}schedule.timezone`, "iana", message);
  }
}

/** Derives a row's layer from its keys and validates them; an explicit layer must match its keys. */
export function rowKeys(
  layer: number | undefined,
  { workflowKey, topicKey, contextKeys }: Omit<RowKeys, "layer">,
): RowKeys {
  if (layer !== undefined && layer !== 3 && layer !== 4 && layer !== 5) {
    const message = "must be 3, 4 or 5; layers 1 and 2 are set on the notification workflow";
    throw invalid("layer", "own_layer", message);
  }
  const implied: OwnLayer = topicKey !== "" ? 5 : workflowKey !== "" ? 4 : 3;
  const wanted = layer ?? implied;
  if (wanted >= 4 && workflowKey === "") throw invalid("workflow_key", "required", `is required on layer ${wanted}`);
  if (wanted === 5 && topicKey === "") throw invalid("topic_key", "required", "is required on layer 5");
  if (wanted === 3 && workflowKey !== "") throw invalid("workflow_key", "absent", "must be empty on layer 3");
  if (wanted < 5 && topicKey !== "") throw invalid("topic_key", "absent", `must be empty on layer ${wanted}`);
  if (wanted < 5 && contextKeys.length > 0) {
    throw invalid("context_keys", "absent", `must be empty on layer ${wanted}`);
  }
  return { layer: wanted, workflowKey, topicKey, contextKeys: orderedKeys(contextKeys) };
}

const payloadBytesMax = 64 * 1024;

/** Throws when the payload of a preview is too large. */
export function checkPayload(payload: Readonly<Record<string, unknown>>): void {
  requireJsonBytes("payload_context", payload, payloadBytesMax);
}
