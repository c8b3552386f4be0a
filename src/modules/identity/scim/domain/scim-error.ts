import { Failure } from "../../../../errors/index.ts";

/** The detail codes of RFC 7644. */
export type ScimType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue";

/** The codes of the catalogue by HTTP status. */
const codes = {
  400: "INVALID_ARGUMENT",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "ALREADY_EXISTS",
  412: "FAILED_PRECONDITION",
  501: "ROUTE_NOT_FOUND",
} as const;

/** A failure in the form of RFC 7644. Its text is for the administrator of the directory. */
export class ScimError extends Failure {
  readonly status: keyof typeof codes;
  readonly scimType: ScimType | undefined;

  constructor(status: keyof typeof codes, detail: string, scimType?: ScimType, headers: Record<string, string> = {}) {
    super(codes[status], { public: detail, headers });
    this.status = status;
    this.scimType = scimType;
  }
}

/** Creates the error of a request that cannot be understood. */
export function badRequest(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, detail, scimType);
}
