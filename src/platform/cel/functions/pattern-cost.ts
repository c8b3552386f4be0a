/** The estimated cost of compiling a pattern. */
export interface PatternCost {
  /** An upper bound for the number of instructions. */
  readonly instructions: number;
  /** The number of character classes that are slow to build: Unicode classes, and wide case-insensitive ranges. */
  readonly wideClasses: number;
}

const QUANTIFIER = /\{(\d{1,6})(,?)(\d{0,6})\}/y;
const FLAGS = /\(\?[a-zA-Z-]*\)/y;
const GROUP_START = /\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?/y;
const CLASS_START = /\[\^?\]?/y;
const NAMED_CLASS = /\[:\^?\w+:\]/y;
const IGNORES_CASE = /\(\?[a-zA-Z]*i/;
const NARROW_END = /[a-zA-Z0-9]/;

/** Estimates the cost from the text alone, so that an expensive pattern is rejected before it is compiled. */
export function patternCost(source: string): PatternCost {
  const scan = new PatternScan(source);
  while (!scan.done) scan.step();
  return scan.cost();
}

class PatternScan {
  readonly #source: string;
  readonly #ignoresCase: boolean;
  /** The instructions before each open group. */
  readonly #open: number[] = [];
  #at = 0;
  #sum = 0;
  /** The instructions of the atom that a quantifier would repeat. */
  #atom = 0;
  #wide = 0;

  constructor(source: string) {
    this.#source = source;
    this.#ignoresCase = IGNORES_CASE.test(source);
  }

  get done(): boolean {
    return this.#at >= this.#source.length;
  }

  cost(): PatternCost {
    return { instructions: this.#open.reduce((all, part) => all + part, this.#sum) + 3, wideClasses: this.#wide };
  }

  step(): void {
    switch (this.#source[this.#at]) {
      case "(":
        this.#group();
        return;
      case ")":
        // A group adds two instructions, and an empty group three.
        this.#close(this.#sum + 3);
        return;
      case "[":
        this.#class();
        return;
      case "{":
        this.#quantifier();
        return;
      case "\\":
        this.#escape();
        this.#add(1);
        return;
      case "*":
        // An atom that can be empty, such as ()*, is compiled as (()+)?, which takes two branches.
        this.#add(2);
        this.#at += 1;
        return;
      default:
        this.#add(1);
        this.#at += 1;
    }
  }

  #group(): void {
    const flags = this.#matched(FLAGS);
    this.#at += flags;
    if (flags > 0) return;
    this.#open.push(this.#sum);
    this.#sum = 0;
    this.#atom = 0;
    this.#at += this.#matched(GROUP_START);
  }

  #add(instructions: number): void {
    this.#atom = instructions;
    this.#sum += instructions;
  }

  #close(instructions: number): void {
    this.#sum = this.#open.pop() ?? 0;
    this.#add(instructions);
    this.#at += 1;
  }

  #escape(): void {
    const kind = this.#source[this.#at + 1];
    if (kind === "p" || kind === "P") this.#wide += 1;
    // Quoted text may contain literal brackets. Tracking them is not worth the effort, so such a pattern is rejected.
    if (kind === "Q") this.#sum = Number.POSITIVE_INFINITY;
    this.#at += 2;
  }

  #class(): void {
    this.#at += this.#matched(CLASS_START);
    while (!this.done && this.#source[this.#at] !== "]") this.#classStep();
    this.#at += 1;
    this.#add(1);
  }

  #classStep(): void {
    const named = this.#matched(NAMED_CLASS);
    if (named > 0) {
      this.#at += named;
      return;
    }
    if (this.#source[this.#at] === "\\") {
      this.#escape();
      return;
    }
    const wide = this.#source[this.#at] === "-" && !NARROW_END.test(this.#source[this.#at + 1] ?? "");
    if (wide && this.#ignoresCase) this.#wide += 1;
    this.#at += 1;
  }

  #quantifier(): void {
    const length = this.#matched(QUANTIFIER);
    if (length === 0) {
      this.#add(1);
      this.#at += 1;
      return;
    }
    const [, least, comma, most] = /^\{(\d+)(,?)(\d*)/.exec(this.#source.slice(this.#at))!;
    // Each optional repetition takes an additional branch.
    const times = most ? 2 * Number(most) : Number(least) + (comma ? 2 : 0);
    this.#sum -= this.#atom;
    this.#add(this.#atom * Math.max(times, 1));
    this.#at += length;
  }

  #matched(pattern: RegExp): number {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#source)?.[0].length ?? 0;
  }
}
