import { type Expression, PatternFault, readPattern } from "./pattern-syntax.ts";

/** Longer patterns are refused, and longer values match none. */
export const LONGEST_PATTERN = 256;
export const LONGEST_VALUE = 512;
/** Steps that a pattern may have, its repetitions written out. A search takes each once for each character: some milliseconds at worst. */
const MOST_STEPS = 500;

/** A pattern that is looked for in values, anywhere in them, in bounded time; or why it is refused. */
export type Pattern = { readonly test: (value: string) => boolean } | { readonly fault: string };

/**
 * Compiles a pattern that somebody else wrote. JavaScript's engine goes back over every choice, so that a few characters can keep it
 * busy for years. This one follows all choices at once, character by character, as Go's does (https://swtch.com/~rsc/regexp/regexp1.html).
 */
export function compilePattern(source: string): Pattern {
  if (source.length > LONGEST_PATTERN) return { fault: `it is longer than ${LONGEST_PATTERN} characters` };
  try {
    const expression = readPattern(source);
    if (sizeOf(expression) > MOST_STEPS) return { fault: "it is too large with its repetitions written out" };
    const search = new Search(expression);
    return { test: (value) => value.length <= LONGEST_VALUE && search.finds(value) };
  } catch (error) {
    if (error instanceof PatternFault) return { fault: error.message };
    throw error;
  }
}

/** The steps of an expression, or more. */
function sizeOf(expression: Expression): number {
  switch (expression.kind) {
    case "character":
    case "place":
      return 1;
    case "sequence":
    case "choice":
      return expression.parts.reduce((sum, part) => sum + sizeOf(part), 1);
    case "repetition": {
      const { part, fewest, most } = expression;
      const size = sizeOf(part);
      return fewest * size + (most === Infinity ? 1 : most - fewest) * (size + 1);
    }
  }
}

/** What a search may do at one point of the pattern. Numbers are those of steps. */
type Step =
  | CharacterStep
  | { readonly kind: "place"; readonly holds: (value: string, at: number) => boolean; readonly next: number }
  | { readonly kind: "fork"; next: readonly number[] }
  | { readonly kind: "found" };

interface CharacterStep {
  readonly kind: "character";
  readonly fits: (code: number) => boolean;
  readonly next: number;
}

class Search {
  readonly #steps: Step[] = [{ kind: "found" }];
  readonly #first: number;
  /** For each step, the round in which it was last come to: however many ways lead to it, it is followed once. */
  readonly #visited: Float64Array;
  #round = 0;

  constructor(expression: Expression) {
    this.#first = this.#lay(expression, 0);
    this.#visited = new Float64Array(this.#steps.length);
  }

  finds(value: string): boolean {
    let from: readonly number[] = [];
    let at = 0;
    for (;;) {
      // The pattern may begin anywhere.
      const reached = this.#reached([...from, this.#first], value, at);
      if (!reached) return true;
      const code = value.codePointAt(at);
      if (code === undefined) return false;
      from = reached.filter(({ fits }) => fits(code)).map(({ next }) => next);
      at += code > 0xffff ? 2 : 1;
    }
  }

  /** The characters that may come next after these steps; nothing if the pattern is found. */
  #reached(from: number[], value: string, at: number): CharacterStep[] | undefined {
    const reached: CharacterStep[] = [];
    this.#round += 1;
    for (let number = from.pop(); number !== undefined; number = from.pop()) {
      if (this.#visited[number] === this.#round) continue;
      this.#visited[number] = this.#round;
      const step = this.#steps[number] as Step;
      if (step.kind === "found") return undefined;
      if (step.kind === "fork") from.push(...step.next);
      else if (step.kind === "character") reached.push(step);
      else if (step.holds(value, at)) from.push(step.next);
    }
    return reached;
  }

  /** Lays the steps of an expression before the step `next`; gives the first of them. */
  #lay(expression: Expression, next: number): number {
    switch (expression.kind) {
      case "character":
      case "place":
        return this.#steps.push({ ...expression, next }) - 1;
      case "sequence":
        return expression.parts.reduceRight((after, part) => this.#lay(part, after), next);
      case "choice":
        return this.#fork(expression.parts.map((part) => this.#lay(part, next)));
      case "repetition":
        return this.#layRepetition(expression, next);
    }
  }

  #layRepetition({ part, fewest, most }: Expression & { readonly kind: "repetition" }, next: number): number {
    let first = next;
    if (most === Infinity) {
      const fork: Step & { readonly kind: "fork" } = { kind: "fork", next: [] };
      first = this.#steps.push(fork) - 1;
      fork.next = [this.#lay(part, first), next];
    } else for (let time = fewest; time < most; time++) first = this.#fork([this.#lay(part, first), next]);
    for (let time = 0; time < fewest; time++) first = this.#lay(part, first);
    return first;
  }

  #fork(next: readonly number[]): number {
    return this.#steps.push({ kind: "fork", next }) - 1;
  }
}
