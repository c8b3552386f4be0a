import { create, type Message } from "@bufbuild/protobuf";
import { timestampFromMs, type Value } from "@bufbuild/protobuf/wkt";
import {
  type AssignExperimentBatchRequest,
  AssignExperimentBatchResponseSchema,
  type AssignExperimentRequest,
  AssignExperimentResponseSchema,
  type ExperimentAssignment,
  ExperimentAssignmentSchema,
  type ExposureReceipt,
  ExposureReceiptSchema,
  type ExperimentService as Rpc,
} from "../../../../gen/service/api/experiment_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Json } from "../../../platform/document/index.ts";
import type { KeyedCall } from "../../../platform/idempotency/index.ts";
import { jsonToValue } from "../../../platform/protojson/index.ts";
import { receiptVersion } from "./domain/receipt.ts";
import type { Receipts, SignedReceipt } from "./receipts.ts";
import type { Assignment, AssignmentService, ExperimentReference, UnitInput } from "./service.ts";

interface Dependencies {
  readonly service: AssignmentService;
  readonly receipts: Receipts;
}

export function assignmentHandlers({ service, receipts }: Dependencies) {
  async function assign<R extends Message>(
    context: Context,
    reference: ExperimentReference,
    units: readonly UnitInput[],
    keyed: KeyedCall | undefined,
    respond: (assignments: readonly Assignment[]) => R,
  ) {
    const compiled = await service.requireExperiment(context, reference);
    if (keyed !== undefined) return service.assignKeyed(context, compiled, units, keyed, respond);
    return respond(await service.assignUnits(context, compiled, units));
  }

  return {
    assignExperiment: {
      ownCommit: (context: Context, request: AssignExperimentRequest, keyed: KeyedCall | undefined) =>
        assign(context, request, [toUnit(request)], keyed, ([assignment]) =>
          create(AssignExperimentResponseSchema, { assignment: fromAssignment(assignment!) }),
        ),
    },

    assignExperimentBatch: {
      ownCommit: (context: Context, request: AssignExperimentBatchRequest, keyed: KeyedCall | undefined) =>
        assign(context, request, request.units.map(toUnit), keyed, (all) => {
          const toValue = createValueConverter();
          const assignments = all.map((assignment) => fromAssignment(assignment, toValue));
          return create(AssignExperimentBatchResponseSchema, { assignments });
        }),
    },

    async verifyExposureReceipt(_, { token }) {
      const opened = receipts.open(token);
      if (typeof opened === "string") return { verification: { valid: false, reason: opened } };
      return { verification: { valid: true, reason: "", receipt: fromReceipt(opened) } };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

function toUnit({
  unit,
  attributes,
  covariates,
}: Pick<AssignExperimentRequest, "unit" | "attributes" | "covariates">): UnitInput {
  return { unit, attributes: attributes ?? {}, covariates };
}

/** Converts the value of a variant once, however many units get it. */
function createValueConverter(): (value: Json) => Value {
  const converted = new Map<Json, Value>();
  return (value) => {
    const known = converted.get(value) ?? jsonToValue(value);
    converted.set(value, known);
    return known;
  };
}

function fromAssignment(assignment: Assignment, toValue: (value: Json) => Value = jsonToValue): ExperimentAssignment {
  const { experimentId, unit, variant, value, reason, receipt } = assignment;
  return create(ExperimentAssignmentSchema, {
    ...{ experimentId, unit, variant, reason, inExperiment: receipt !== undefined },
    ...(value !== undefined && { value: toValue(value) }),
    ...(receipt !== undefined && { receipt: fromReceipt(receipt) }),
  });
}

function fromReceipt({ firstExposedAtMs, ...receipt }: SignedReceipt): ExposureReceipt {
  return create(ExposureReceiptSchema, {
    ...receipt,
    receiptId: `${receipt.experimentId}-${receipt.unitHash}`,
    version: receiptVersion,
    firstExposedAt: timestampFromMs(firstExposedAtMs),
  });
}
