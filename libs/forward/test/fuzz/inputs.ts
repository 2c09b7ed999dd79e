import { http2Input } from "./http2-input.ts";
import { mutate } from "./mutate.ts";
import type { Random } from "./random.ts";
import { type Input, validInput } from "./requests.ts";
import { smugglingInput } from "./smuggling.ts";

/** The next input of a seed: a fifth of them are well-formed, so that it shows when good requests suffer too. */
export function nextInput(random: Random): Input {
  const die = random.below(100);
  if (die < 20) return validInput(random);
  if (die < 55) return damaged(random, validInput(random));
  if (die < 75) return smugglingInput(random);
  if (die < 82) return damaged(random, smugglingInput(random));
  if (die < 90) return http2Input(random);
  if (die < 94) return damaged(random, http2Input(random));
  return { kind: "noise", bytes: random.bytes(1 + random.below(300)), meant: undefined };
}

function damaged(random: Random, { kind, bytes }: Input): Input {
  return { kind: kind === "valid" ? "mutated" : kind, bytes: mutate(random, bytes), meant: undefined };
}
