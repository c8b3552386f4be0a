import { findProgram, firstLine, type Program } from "./debian-program.ts";

let reason = "";

/** Why `findPython` returned undefined. */
export function whyNoPython(): string {
  return reason;
}

/** Finds a Python on the PATH, or one unpacked from Debian packages; returns undefined when neither is available. */
export async function findPython(): Promise<Program | undefined> {
  try {
    return await findProgram({ cache: "python-packages", names: ["python3"], packages: ["python3"] });
  } catch (error) {
    reason = `No python3 on the PATH, and none from packages: ${firstLine(error)}`;
    console.error(reason);
    return undefined;
  }
}
