import { describe, expect, test } from "@jest/globals";
import { PodAddresses } from "./pod-addresses.ts";

describe("pod addresses", () => {
  test("are those of the range, in order, until none is left", () => {
    const addresses = new PodAddresses("10.1.2.8/29");
    const taken = Array.from({ length: 7 }, () => addresses.take());
    expect(taken).toEqual([...[9, 10, 11, 12, 13, 14].map((last) => `10.1.2.${last}`), undefined]);
  });

  test("are lent again when they were given back, as late as possible", () => {
    const addresses = new PodAddresses("10.0.0.0/29");
    const first = addresses.take() ?? "";
    addresses.release(first);
    const later = Array.from({ length: 6 }, () => addresses.take());
    expect(later.at(-1)).toBe(first);
  });

  test.each(["10.0.0.0", "10.0.0.0/31", "300.0.0.0/8", ""])("are refused of %p", (cidr) => {
    expect(() => new PodAddresses(cidr)).toThrow("is no range of pod addresses");
  });
});
