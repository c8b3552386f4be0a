/** How a response is printed. */
export interface PrintStyle {
  readonly isColoured: boolean;
  readonly width: number;
}

/** The output of a command whose response has a form of its own and decides the exit code. */
export interface OwnForm {
  readonly exitCode: number;
  text(style: PrintStyle): string;
}
