import { type ExecutionOwner, TextExecution, type Wire } from "./execution.ts";

/** Receives a part of the rows; returns when it can receive more, if not at once. */
export type CopySink = (chunk: Buffer) => Promise<void> | undefined;

/** Runs `copy … to stdout`. The server pauses while the sink is full, so that memory stays bounded. */
export class CopyOutExecution extends TextExecution {
  private readonly sink: CopySink;

  constructor(owner: ExecutionOwner, text: string, sink: CopySink) {
    super(owner, text);
    this.sink = sink;
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }, { stream }: Wire): void {
    const full = this.sink(chunk);
    if (full === undefined) return;
    stream.pause();
    // A sink that failed receives the rest in vain, until its error ends the copy.
    void full.catch(() => {}).then(() => stream.resume());
  }
}

/** Runs `copy … from stdin`. */
export class CopyInExecution extends TextExecution {
  /** Resolves when the server expects rows. */
  readonly ready: Promise<void>;
  private readonly begin: () => void;
  private wire: Wire | undefined;
  private drained: Promise<void> | undefined;

  constructor(owner: ExecutionOwner, text: string) {
    super(owner, text);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    this.begin = resolve;
    this.promise.catch(reject);
    promise.catch(() => {});
  }

  handleCopyInResponse(wire: Wire): void {
    this.wire = wire;
    this.begin();
  }

  readonly write: CopySink = (chunk) => {
    const wire = this.wire!;
    this.owner.cork(wire);
    wire.sendCopyFromChunk(chunk);
    if (!wire.stream.writableNeedDrain) return undefined;
    this.drained ??= drained(wire).finally(() => {
      this.drained = undefined;
    });
    return this.drained;
  };

  end(): void {
    this.wire!.endCopyFrom();
  }

  /** Gives the copy up. It fails then. */
  cancel(): void {
    this.wire!.sendCopyFail("canceled");
  }
}

/** Resolves when the server has received what was sent, or never will. */
function drained({ stream }: Wire): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stream.off("drain", end).off("close", end);
      resolve();
    };
    stream.on("drain", end).on("close", end);
  });
}
