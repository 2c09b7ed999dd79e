import { describe, expect, test } from "@jest/globals";
import { isRefusal, wasClosedMeanwhile } from "./refused-connection.ts";

const failure = (error: object, protocol: "http1" | "h2c" = "http1") => ({
  kind: "connect" as const,
  origin: { host: "10.0.0.1", port: 80, protocol },
  error: Object.assign(new Error("failed"), error),
});

describe("a failure before anything was sent", () => {
  test.each([
    ["a refused connection", { code: "ECONNREFUSED", syscall: "connect" }, true, false],
    ["a new connection that was reset", { code: "ECONNRESET", syscall: "connect" }, true, false],
    ["a reused connection that was reset", { code: "ECONNRESET", syscall: "read" }, false, true],
    ["a reused connection that was closed", { code: "ECONNRESET" }, false, true],
    ["an unknown error", {}, false, false],
  ])("of %s", (_name, error, refusal, closed) => {
    expect([isRefusal(failure(error)), wasClosedMeanwhile(failure(error))]).toEqual([refusal, closed]);
  });

  test("of HTTP/2 never is a connection that was closed meanwhile, because a session that is in use is known", () => {
    expect(wasClosedMeanwhile(failure({ code: "ECONNRESET" }, "h2c"))).toBe(false);
    expect(isRefusal(failure({ code: "ECONNRESET", syscall: "connect" }, "h2c"))).toBe(true);
  });
});

test("a failure after something was sent is neither", () => {
  const late = { ...failure({ code: "ECONNRESET", syscall: "read" }), kind: "reset" as const };
  expect([isRefusal(late), wasClosedMeanwhile(late)]).toEqual([false, false]);
});
