import { type DestinationStream, type Logger, pino } from "pino";

/** A structured logger. */
export type Log = Logger;

/**
 * Creates a logger that writes JSON lines to standard error, so that standard output stays free for command output. Several
 * processes that write to the same place name themselves. `copy` gets every line too.
 */
export function createLog(level: string, processName?: number | string, copy?: (line: string) => void): Log {
  const standardError = pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base: { service: "switchyard", ...(processName !== undefined && { process: processName }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Headers are never logged. Redaction is a second line of defence against a field that is logged by mistake.
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
    copy === undefined ? standardError : writeTo(standardError, copy),
  );
}

function writeTo(first: DestinationStream, second: (line: string) => void): DestinationStream {
  return {
    write(line) {
      first.write(line);
      second(line);
    },
  };
}
