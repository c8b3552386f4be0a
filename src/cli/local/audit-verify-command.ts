import { verifyAudit } from "../../platform/audit/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Checks an audit log and says where it is broken. */
export async function auditVerifyCommand(io: Io, file: string, { json }: { json?: boolean }): Promise<number> {
  const verdict = await verifyAudit(file).catch((cause: Error) => {
    throw new CliError(`${file} cannot be read: ${cause.message}`, exitCodes.failed, { cause });
  });
  const { ok, entries, recoveredLines, tornBytes, head, brokenAt } = verdict;
  if (json) {
    io.out(`${JSON.stringify(verdict)}\n`);
  } else if (brokenAt !== undefined) {
    io.out(`broken at line ${brokenAt.line}: ${brokenAt.reason}\n${entries} entries before it are whole.\n`);
  } else {
    io.out(`ok: ${entries} entries\nhead ${head.seq} ${head.hash}\n`);
    if (recoveredLines > 0) io.out(`${recoveredLines} lines that a crash tore are on record.\n`);
    if (tornBytes > 0) io.out(`The last ${tornBytes} bytes are a torn line; the next start records it.\n`);
  }
  return ok ? exitCodes.ok : exitCodes.failed;
}
