import { hashText } from "@evenkeel/scoring";

/** Loads of `count` targets, the same for the same count. */
export const SHAPES = {
  equal: (count: number): number[] => new Array<number>(count).fill(1),
  /** σ 1.5, as series of targets are spread. */
  lognormal: (count: number): number[] => {
    const random = uniform(7);
    const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    return Array.from({ length: count }, () => Math.exp(1.5 * normal()));
  },
  /** 20 of them have half of the load. */
  whales: (count: number): number[] =>
    Array.from({ length: count }, (_, index) => (index < 20 ? (count - 20) / 20 : 1)),
};

export type Shape = keyof typeof SHAPES;

/** Numbers between 0 and 1 from a seed. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return (hashText(`${state}`).high + 0.5) / 2 ** 32;
  };
}
