import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ConstraintVerdictSchema,
  type ConstraintVerdict as VerdictMessage,
} from "../../../../gen/service/api/admission_pb.ts";
import type { ConstraintVerdict } from "./domain/admission.ts";

/** Converts a constraint's verdict to its protobuf message. */
export function fromConstraint({ kind, groupId, ruling, notBeforeMs, remaining }: ConstraintVerdict): VerdictMessage {
  return create(ConstraintVerdictSchema, {
    constraintKind: kind,
    groupId,
    verdict: ruling,
    notBefore: notBeforeMs === undefined ? undefined : timestampFromMs(notBeforeMs),
    remaining,
  });
}
