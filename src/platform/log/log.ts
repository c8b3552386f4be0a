import { type Logger, pino } from "pino";

/** Structured log lines. */
export type Log = Logger;

/** Writes JSON lines to standard error, so that standard output stays for people and programs. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: { service: "switchyard" },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Headers are never logged; this guards against a careless field.
      redact: [
        "authorization",
        "*.authorization",
        "secret",
        "*.secret",
        "password",
        "*.password",
        "value",
        "*.value",
        "err.detail",
        "err.where",
        "err.query",
        "err.parameters",
      ],
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
