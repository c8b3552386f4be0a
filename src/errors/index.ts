/** Errors: the catalogue of codes, and the error type that carries them. */
export { type ConnectCode, catalogue, type ErrorCode, type ErrorEntry, grpcCodes } from "./catalogue.ts";
export {
  type Correction,
  Failure,
  type FindRepair,
  fail,
  headerCorrection,
  invalid,
  type PatchStep,
  type RefusedInput,
  reasonOf,
  unreachable,
  type Violation,
  withinField,
} from "./failure.ts";
