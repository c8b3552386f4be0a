/** The result of a check, with a remedy if it did not pass. */
export interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly message: string;
  readonly remedy?: string;
}

/** Creates the finding of a passed check. */
export function ok(check: string, message: string): Finding {
  return { status: "ok", check, message };
}

/** Creates a warning: the service starts, but perhaps not as intended. */
export function warn(check: string, message: string, remedy: string): Finding {
  return { status: "warn", check, message, remedy };
}

/** Creates a failure: the service would not start or not work. */
export function fails(check: string, message: string, remedy: string): Finding {
  return { status: "fail", check, message, remedy };
}
