import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "./address.ts";

describe("an address", () => {
  test.each([
    ["http://prometheus:9090", "http://prometheus:9090", "/api/v1/query"],
    ["http://prometheus:9090/", "http://prometheus:9090", "/api/v1/query"],
    ["https://metrics.example.com/prom", "https://metrics.example.com", "/prom/api/v1/query"],
    ["https://metrics.example.com/prom//", "https://metrics.example.com", "/prom/api/v1/query"],
    [" http://prometheus:80 ", "http://prometheus", "/api/v1/query"],
    ["http://[::1]:9090", "http://[::1]:9090", "/api/v1/query"],
  ])("%s is asked at %s%s", (address, origin, path) => {
    expect(parseAddress(address)).toMatchObject({ origin, path, user: undefined });
  });

  test("shows neither its credentials nor its parameters", () => {
    const address = parseAddress("https://us%40er:pa%3Ass@metrics.example.com/prom/?key=hidden#part");
    expect(address).toEqual({
      origin: "https://metrics.example.com",
      path: "/prom/api/v1/query",
      parameters: "key=hidden",
      user: { name: "us@er", password: "pa:ss" },
      shown: "https://metrics.example.com/prom",
    });
  });

  test("may have a percent sign that escapes nothing in its password", () => {
    expect(parseAddress("http://user:100%@p")?.user).toEqual({ name: "user", password: "100%" });
  });

  test.each([
    "",
    "prometheus:9090",
    "prometheus",
    "ftp://prometheus",
    "http://",
    "//prometheus",
    "http://user:secret@",
    `http://prometheus/${"x".repeat(2048)}`,
  ])("%j is none", (address) => {
    expect(parseAddress(address)).toBeUndefined();
  });
});
