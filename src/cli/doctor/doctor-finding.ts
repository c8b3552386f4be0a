/** What one check found; what to do about it, unless all is well. */
export interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly message: string;
  readonly remedy?: string;
}

/** All is well. */
export function ok(check: string, message: string): Finding {
  return { status: "ok", check, message };
}

/** The service runs, but perhaps not as it should. */
export function warn(check: string, message: string, remedy: string): Finding {
  return { status: "warn", check, message, remedy };
}

/** The service would not start, or not do its work. */
export function fails(check: string, message: string, remedy: string): Finding {
  return { status: "fail", check, message, remedy };
}
