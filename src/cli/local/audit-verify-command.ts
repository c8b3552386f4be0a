import { verifyAudit } from "../../platform/audit/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Verifies an audit log and reports the first broken line. */
export async function auditVerifyCommand(io: Io, file: string, { json }: { json?: boolean }): Promise<number> {
  const verdict = await verifyAudit(file).catch((cause: Error) => {
    throw new CliError(`${file} cannot be read: ${cause.message}`, exitCodes.failed, { cause });
  });
  const { ok, entries, recoveredLines, tornBytes, head, brokenAt } = verdict;
  if (json) {
    io.out(`${JSON.stringify(verdict)}\n`);
  } else if (brokenAt !== undefined) {
    io.out(`broken at line ${brokenAt.line}: ${brokenAt.reason}\n${entries} entries before it are intact.\n`);
  } else {
    io.out(`ok: ${entries} entries\nhead ${head.seq} ${head.hash}\n`);
    if (recoveredLines > 0) io.out(`${recoveredLines} incomplete lines from crashes are recorded.\n`);
    if (tornBytes > 0) io.out(`The last ${tornBytes} bytes are an incomplete line; the next start records it.\n`);
  }
  return ok ? exitCodes.ok : exitCodes.failed;
}
