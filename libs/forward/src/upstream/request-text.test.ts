import { describe, expect, test } from "@jest/globals";
import { requestText, UnsendableRequest } from "./request-text.ts";
import type { Ask } from "./try.ts";

function ask(method: string, path: string, host: string, headers: string[]): Ask {
  return { asker: { method }, path, host, headers } as unknown as Ask;
}

describe("a request without a body", () => {
  test("is written with its host first", () => {
    expect(requestText(ask("GET", "/a?b", "a.example", ["x", "1", "y", "\xe9\t2"]))).toBe(
      "GET /a?b HTTP/1.1\r\nhost: a.example\r\nconnection: keep-alive\r\nx: 1\r\ny: \xe9\t2\r\n\r\n",
    );
  });

  test.each(["POST", "PUT", "PATCH"])("says so if its method is %s", (method) => {
    expect(requestText(ask(method, "/", "a", []))).toMatch(/\r\ncontent-length: 0\r\n\r\n$/);
  });

  test.each([
    ["a method with a blank", ask("GET /", "/", "a", [])],
    ["a path with a blank", ask("GET", "/a b", "a", [])],
    ["a path with a line break", ask("GET", "/a\r\nx:1", "a", [])],
    ["a path beyond latin1", ask("GET", "/\u0100", "a", [])],
    ["a host with a line break", ask("GET", "/", "a\r\nx: 1", [])],
    ["a name with a colon", ask("GET", "/", "a", ["x:", "1"])],
    ["an empty name", ask("GET", "/", "a", ["", "1"])],
    ["a value with a line break", ask("GET", "/", "a", ["x", "1\r\ny: 2"])],
    ["a value with a bare line feed", ask("GET", "/", "a", ["x", "1\ny: 2"])],
    ["a value beyond latin1", ask("GET", "/", "a", ["x", "\u010a"])],
    ["a value with a NUL", ask("GET", "/", "a", ["x", "\0"])],
  ])("is not written with %s", (_name, unsendable) => {
    expect(() => requestText(unsendable)).toThrow(UnsendableRequest);
  });
});
