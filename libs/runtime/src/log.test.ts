import { describe, expect, test } from "@jest/globals";
import { defineError } from "./error.ts";
import { FakeHost } from "./testing/fake-host.ts";
import { MASKED } from "./scrub.ts";

const Refused = defineError({ code: "EK_TEST_REFUSED", recovery: "terminal", message: "refused {n}", remedy: "Ask." });

describe("a line of the log", () => {
  test("is JSON with time, level, service and message", () => {
    const host = new FakeHost();
    host.log().info({ component: "loop" }, "hello");
    expect(host.lines).toEqual([
      {
        level: "info",
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        service: "sample",
        component: "loop",
        msg: "hello",
      },
    ]);
    expect(host.out.endsWith("\n")).toBe(true);
  });

  test("is not written below the level", () => {
    const host = new FakeHost();
    const log = host.log([], "warn");
    log.info("quiet");
    log.warn("loud");
    expect(host.lines.map(({ msg }) => msg)).toEqual(["loud"]);
  });

  test("carries what its child was given", () => {
    const host = new FakeHost();
    host.log().child({ component: "decisions", object: "A/b" }).child({ decision: "c0ffee" }).info("x");
    expect(host.lines[0]).toMatchObject({ component: "decisions", object: "A/b", decision: "c0ffee" });
  });
});

describe("what must not be logged", () => {
  test.each([
    ["a header", { headers: { Authorization: "Token hunter2" } }, "x"],
    ["headers with several values", { headers: { "set-cookie": ["hunter2", "b"] } }, "x"],
    ["a bearer token in the message", {}, "sent Bearer hunter2"],
    ["a password in a URL", { url: "redis://:hunter2@redis" }, "x"],
    ["a secret setting in the message", {}, "got hunter2 back"],
    ["a secret setting as a field's name", { hunter2: 1 }, "x"],
    ["a secret setting in an error", { error: new Error("cannot use hunter2") }, "x"],
    ["a secret setting in an error's cause", { error: new Error("no", { cause: new Error("hunter2") }) }, "x"],
  ])("is masked: %s", (_name, fields, message) => {
    const host = new FakeHost();
    host.log(["hunter2"]).info(fields, message);
    expect(host.lines).toHaveLength(1);
    expect(host.out).not.toContain("hunter2");
    expect(host.out).toContain(MASKED);
  });

  test("is masked in what a child was given, too", () => {
    const host = new FakeHost();
    host.log(["hunter2"]).child({ with: "hunter2" }).error(new Error("hunter2"));
    expect(host.out).not.toContain("hunter2");
  });
});

describe("an error in the log", () => {
  test("has its code, the messages of the whole chain on one line, and no stack when all of it has codes", () => {
    const host = new FakeHost();
    host.log().error({ error: new Refused({ n: 1 }, { cause: new Refused({ n: 2 }) }) }, "x");
    expect(host.lines[0]?.["error"]).toEqual({ code: "EK_TEST_REFUSED", message: "refused 1: refused 2" });
  });

  test("has the stack of the first surprise in the chain", () => {
    const host = new FakeHost();
    const surprise = new TypeError("x is not a function");
    host.log().error({ error: new Refused({ n: 1 }, { cause: surprise }) }, "x");
    expect(host.lines[0]?.["error"]).toEqual({
      code: "EK_TEST_REFUSED",
      message: "refused 1: x is not a function",
      stack: surprise.stack,
    });
  });

  test("has a stack and no code when it is a surprise itself", () => {
    const host = new FakeHost();
    const surprise = new Error("what");
    host.log().error({ error: surprise }, "x");
    expect(host.lines[0]?.["error"]).toEqual({ message: "what", stack: surprise.stack });
  });

  test("may be anything that was thrown", () => {
    const host = new FakeHost();
    for (const thrown of ["a string", 42, null, { status: 503 }]) host.log().error({ error: thrown }, "x");
    expect(host.lines.map(({ error }) => error)).toEqual([
      { message: "a string" },
      { message: "42" },
      { message: "null" },
      { message: "{ status: 503 }" },
    ]);
  });

  test("does not hang the log when its causes go in a circle", () => {
    const host = new FakeHost();
    const [one, two] = [new Refused({ n: 1 }), new Refused({ n: 2 })];
    one.cause = two;
    two.cause = one;
    host.log().error({ error: one }, "x");
    expect(host.lines[0]?.["error"]).toMatchObject({ code: "EK_TEST_REFUSED" });
  });
});
