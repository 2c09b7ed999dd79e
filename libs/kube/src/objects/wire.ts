import type { KubeObject } from "./object.ts";

/**
 * A model of the generated client as the API server really sends it: times are strings, and names that the generator had to
 * escape (`_from`, `_continue`) have their own spelling.
 */
export type Wire<T> = Omit<Plain<T>, "apiVersion" | "kind" | "metadata"> & KubeObject;

type Plain<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : T extends object
      ? { readonly [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: Plain<T[Key]> }
      : T;
