import { eventually } from "@evenkeel/runtime/testing";

/** Resolves with `value` once it was the same in 15 checks, for about 300 ms. */
export function standstill(value: () => number): Promise<number> {
  let last = NaN;
  let same = 0;
  return eventually(() => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return same >= 15 && last;
  });
}
