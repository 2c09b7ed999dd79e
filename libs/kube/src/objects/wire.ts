import type { KubeObject } from "./object.ts";

/**
 * A model of the generated client as it is on the wire: times are strings, and names that the generator escaped
 * (`_from`, `_continue`) are unescaped.
 */
export type Wire<T> = Omit<Plain<T>, "apiVersion" | "kind" | "metadata"> & KubeObject;

type Plain<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : T extends object
      ? { readonly [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: Plain<T[Key]> }
      : T;
