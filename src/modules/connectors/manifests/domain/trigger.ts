export type { ChallengeSpec, PollSpec, RegistrationSpec, Trigger } from "./language/trigger.ts";
export type { SignatureTimestamp, SignedPart, VerifySpec } from "./language/verify.ts";
