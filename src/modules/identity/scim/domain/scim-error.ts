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

/** An error in the form of RFC 7644. Its text is for the administrator of the directory. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;

  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail);
    this.name = "ScimError";
    this.status = status;
    this.scimType = scimType;
  }
}

/** Creates the error of a request that cannot be understood. */
export function badRequest(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, detail, scimType);
}
