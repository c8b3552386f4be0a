// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { JsonObject } from "../json.ts";

/** Explanations: what happened to something, why, and what it waits for. */
export interface ExplainService {
  /** Explains a routing decision, a queue item, a notification delivery, a notification run, a webhook delivery, a workflow run or an execution of a connector action by its id, whichever it is. The caller needs the scope that reads records of that kind. */
  explain(request: ExplainRequest, options?: CallOptions): Promise<Explanation>;
}

const explainServiceOperations = {
  explain: { verb: "GET", path: "/api/explain/{id}" },
} as const satisfies Record<keyof ExplainService, Operation>;

/** Creates the service over a transport. */
export function createExplainService(transport: Transport): ExplainService {
  return bindOperations<ExplainService>(transport, explainServiceOperations);
}

/** Names what to explain. */
export type ExplainRequest = {
  /** The id of a decision, a queue item, a notification delivery, a notification run, a workflow run or an execution. The webhook deliveries of an event have the id of the event. */
  readonly id: string;
  /** Whom the question is about: the id or the name of a recipient, or the id of a webhook endpoint. The explanation then says first why it did or did not get the item or the event. */
  readonly about?: string;
};

/** What happened to something, why, and what it waits for. */
export type Explanation = {
  /** The id that was asked about. */
  readonly id: string;
  /** decision, queue_item, notification_delivery, notification_run, webhook_delivery, workflow_run or connector_execution. A routed item is both a decision and a queue item with the same id; the explanation has both. */
  readonly kinds: readonly string[];
  /** The current status. */
  readonly status: string;
  /** The explanation in a few sentences. */
  readonly summary: string;
  /** What happened, in order. */
  readonly steps: readonly ExplanationStep[];
  /** What it waits for; empty if it has ended. */
  readonly waits: readonly ExplanationWait[];
  /** What would help; empty if nothing has to be done. */
  readonly remedies: readonly string[];
  /** Related records. */
  readonly links: readonly ExplanationLink[];
};

/** Something that happened. */
export type ExplanationStep = {
  /** When it happened, if it is known. */
  readonly at?: string;
  /** A stable code, such as eligibility, leased or attempt. */
  readonly code: string;
  /** What it is about, such as the id of a rule or a recipient; empty for the record itself. */
  readonly subject: string;
  /** What happened and why. */
  readonly message: string;
  /** What came of it, such as matched for a rule; empty if the code says so. */
  readonly result: string;
  /** The values that decided it: what a rule read of the item or the recipient, or what the strategy compared of a recipient, such as its load or cost. */
  readonly values?: JsonObject;
};

/** Something that is waited for. */
export type ExplanationWait = {
  /** A stable code, such as waiting_for_approval. */
  readonly code: string;
  /** What is waited for. */
  readonly message: string;
  /** What would end the wait. */
  readonly remedy: string;
  /** Since when, if it is known. */
  readonly since?: string;
  /** Until when at most, if there is an end. */
  readonly until?: string;
};

/** A related record. */
export type ExplanationLink = {
  /** What it is to the explained record, such as pool, recipient or dead_letter. */
  readonly relation: string;
  /** The id of the related record. */
  readonly id: string;
  /** The path of the operation that reads it. */
  readonly path: string;
  /** Whether it can be explained as well. */
  readonly explainable: boolean;
};
