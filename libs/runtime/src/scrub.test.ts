import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { MASKED, scrub } from "./scrub.ts";

/** Scrubs a value by way of its JSON text. */
const scrubbed = (value: unknown, secrets?: readonly string[]): unknown =>
  JSON.parse(scrub(JSON.stringify(value), secrets));

describe("the value of a key that names a credential", () => {
  test.each([
    "authorization",
    "Authorization",
    "Proxy-Authorization",
    "cookie",
    "set-cookie",
    "password",
    "redis_password",
    "REDIS-PASSWORD",
    "dbPassword",
    "clientSecret",
    "token",
    "accessToken",
    "x-api-key",
    "apiKey",
    "privateKey",
    "secretAccessKey",
    "example.com/token",
    "kubectl.kubernetes.io/last-applied-configuration",
  ])("is masked under %s", (key) => {
    expect(scrubbed({ a: [{ [key]: 'hun"ter2\\' }], b: 1 })).toEqual({ a: [{ [key]: MASKED }], b: 1 });
    expect(scrubbed({ [key]: ["one", "two"], b: "kept" })).toEqual({ [key]: MASKED, b: "kept" });
    expect(scrubbed({ [key]: "", b: "kept" })).toEqual({ [key]: MASKED, b: "kept" });
  });

  test("is masked in text with spaces and line breaks between the parts", () => {
    const text = JSON.stringify({ password: "hunter2", cookie: ["a", "b"], port: 1 }, undefined, 2);
    expect(JSON.parse(scrub(text))).toEqual({ password: MASKED, cookie: MASKED, port: 1 });
  });

  test("is masked where a name and a value stand side by side, as in a container's environment", () => {
    expect(scrubbed([{ name: "REDIS_PASSWORD", value: "hunter2" }])).toEqual([
      { name: "REDIS_PASSWORD", value: MASKED },
    ]);
    expect(scrubbed([{ name: "Authorization", value: "token hunter2" }])).toEqual([
      { name: "Authorization", value: MASKED },
    ]);
  });

  test("is masked however long it is", () => {
    expect(scrubbed({ password: "\\x".repeat(2_000_000), b: 1 })).toEqual({ password: MASKED, b: 1 });
  });

  test.each([
    { secretName: "tls", tokenCount: 5, passwordless: "yes", cookies: 3 },
    { fencingToken: 7, automountServiceAccountToken: true, token: null },
    { key: "password", value: { of: "an object" } },
    { message: "the token is missing", password: { from: "a Secret" } },
  ])("is kept where it is none: %j", (value) => {
    expect(scrubbed(value)).toEqual(value);
  });
});

describe("a credential in the middle of a text", () => {
  test.each([
    ["Bearer abc.def-ghi_jkl~mno+pqr/stu=", `Bearer ${MASKED}`],
    ["sent Authorization: bearer eyJhbGciOi, got 401", `sent Authorization: bearer ${MASKED}, got 401`],
    ["first line\nBearer abcdefgh", `first line\nBearer ${MASKED}`],
    ["Bearer 12|laravelsEndOfIt", `Bearer ${MASKED}`],
    ["Basic dXNlcjpwYXNz", `Basic ${MASKED}`],
    ["header was Basic dXNlcjpwYXNzd29yZA== and so on", `header was Basic ${MASKED} and so on`],
    ["basic dXNlcjpwYXNz", `basic ${MASKED}`],
    ["redis://:hunter2@redis:6379/0", `redis://${MASKED}@redis:6379/0`],
    ["redis://user:hun@ter2@redis:6379", `redis://${MASKED}@redis:6379`],
    ["two: http://a:b@c/d and https://e:f@g", `two: http://${MASKED}@c/d and https://${MASKED}@g`],
  ])("is masked in %j", (text, masked) => {
    expect(scrubbed({ text })).toEqual({ text: masked });
  });

  test.each([
    "Basic authentication is not offered",
    "Visual Basic 6",
    "http://prometheus:9090/api/v1/query?query=a@b",
    "http://prometheus:9090?at=a@b",
    "ssh://git@host/repository",
    "mail a@b.example: later",
  ])("is not seen in %j", (text) => {
    expect(scrubbed({ text })).toEqual({ text });
  });

  test.each(["\bearer abcdefgh", "\basic dXNlcjpwYXNz", "\\Bearer abcdefgh", 'a"Bearer abcdefgh"'])(
    "leaves valid JSON of %j",
    (text) => {
      expect(() => scrubbed({ text })).not.toThrow();
      expect(JSON.stringify(scrubbed({ text }))).not.toMatch(/abcdefgh|dXNlcjpwYXNz/);
    },
  );
});

describe("a given secret", () => {
  test.each([
    ["in a text", "hunter2", { a: "xhunter2y" }, { a: `x${MASKED}y` }],
    ["more than once", "hunter2", { a: "hunter2hunter2" }, { a: MASKED + MASKED }],
    ["as a key", "hunter2", { hunter2: 1 }, { [MASKED]: 1 }],
    ["with quotes, backslashes and line breaks", 'q"\\\n1', { a: '-q"\\\n1-' }, { a: `-${MASKED}-` }],
    ["that is a number", "123456", { port: 1_234_567, b: 2 }, { port: `${MASKED}7`, b: 2 }],
    ["that is a literal", "true", { dryRun: true, b: 2 }, { dryRun: MASKED, b: 2 }],
    ["after a line break", "north", { a: "\north and \nnorth" }, { a: `\north and \n${MASKED}` }],
  ])("is masked %s", (_name, secret, value, masked) => {
    expect(scrubbed(value, [secret])).toEqual(masked);
  });

  test("is masked whole although another is its beginning", () => {
    expect(scrubbed({ a: "hunter22222" }, ["hunter2", "hunter22222"])).toEqual({ a: MASKED });
  });

  test("is left alone when it is so short that it occurs by chance", () => {
    expect(scrubbed({ a: "abc" }, ["abc", "a", ""])).toEqual({ a: "abc" });
  });
});

describe("for any JSON", () => {
  const secret = fc.string({ unit: "binary", minLength: 4, maxLength: 12 });

  test("the text stays valid, whatever the secrets are", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(secret, { maxLength: 3 }), (value, secrets) => {
        expect(() => scrubbed(value, secrets)).not.toThrow();
      }),
    );
  });

  test("the text stays valid when it is made of pieces that mean something to JSON or to the masks", () => {
    const piece = fc.constantFrom(
      ...'\\"\n\b:@/[]{},'.split(""),
      "Bearer ",
      "basic ",
      "://",
      "a:b@",
      "password",
      "true",
      "1234",
      "nabc",
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    const value = fc.oneof(text, fc.dictionary(text, text), fc.array(text), fc.integer());
    fc.assert(
      fc.property(fc.dictionary(text, value), fc.array(text, { maxLength: 2 }), (object, secrets) => {
        expect(() => scrubbed(object, secrets)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  test("what holds nothing secret is not changed", () => {
    const tame = fc.jsonValue({ stringUnit: fc.constantFrom("a", "b", " ", "\\", '"', "\n", "/", ":", "{", "]", ",") });
    fc.assert(fc.property(tame, (value) => expect(scrubbed(value)).toEqual(JSON.parse(JSON.stringify(value)))));
  });

  test("a planted secret is nowhere in what comes out", () => {
    const planted = secret.filter((text) => !/[[\]]/.test(text) && !MASKED.includes(text));
    const around = fc.string({ unit: "binary", maxLength: 6 });
    fc.assert(
      fc.property(planted, around, around, fc.jsonValue(), (hidden, before, after, other) => {
        const out = scrub(JSON.stringify({ other, deep: [{ text: before + hidden + after }] }), [hidden]);
        const seen: unknown[] = [];
        JSON.parse(out, (key, value: unknown) => (seen.push(key, value), value));
        expect(seen.filter((text) => typeof text === "string" && text.includes(hidden))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("a secret under a telling key is nowhere in what comes out", () => {
    const key = fc.constantFrom("Authorization", "password", "x-token", "apiKey", "client_secret");
    fc.assert(
      fc.property(key, fc.string({ unit: "binary" }), fc.jsonValue(), (name, text, other) => {
        const marked = `<${text}>planted`;
        expect(
          scrub(JSON.stringify({ other, deep: [{ [name]: marked }, { [name]: [marked, marked] }] })),
        ).not.toContain("planted");
      }),
    );
  });
});
