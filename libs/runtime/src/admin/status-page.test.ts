import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Status, statusPage, statusStyle } from "./status-page.ts";

/** A status in which every text is `text`. */
const statusOf = (text: string): Status => ({
  service: text,
  summary: text,
  version: text,
  phase: text,
  uptime: 3_723_456,
  unready: [{ name: text, reason: text }],
  settings: [{ name: text, value: text, source: `$${text}` }],
  decisions: [
    {
      id: text,
      at: text,
      object: { kind: text, namespace: text, name: text },
      action: text,
      reason: text,
      before: text,
      after: text,
      message: text,
      dryRun: true,
    },
  ],
});

describe("the status page", () => {
  test("tells what the process is, how it is and what it decided last", () => {
    const page = statusPage({
      ...statusOf("x"),
      service: "ballast",
      unready: [],
      settings: [{ name: "target", value: "50", source: "$BALLAST_TARGET" }],
      decisions: [
        {
          id: "c0ffee",
          at: "2026-01-01T12:34:56Z",
          object: { kind: "Tank", name: "port" },
          action: "pump",
          reason: "TooLow",
          before: 1,
          after: 2,
          message: "30 is below 50",
          dryRun: true,
        },
      ],
    });
    expect(page).toContain("<title>ballast · ready</title>");
    expect(page).toContain("up 1h2m3s");
    expect(page).toContain(`<p class="ok">Ready</p>`);
    expect(page).toContain(`<td><code>--target</code></td><td>50</td><td class="quiet">$BALLAST_TARGET</td>`);
    expect(page).toContain(`<td><time datetime="2026-01-01T12:34:56Z">12:34:56</time></td><td>Tank/port</td>`);
    expect(page).toContain("<td>pump (dry run)</td><td>TooLow</td><td>30 is below 50</td>");
    expect(page).toContain(`<a href="/api/v1/Decisions/Snapshot?id=c0ffee">`);
  });

  test("says why the process is not ready, and that there is no decision yet", () => {
    const page = statusPage({ ...statusOf("x"), unready: [{ name: "cache", reason: "cold" }], decisions: [] });
    expect(page).toContain(`<ul class="bad"><li>cache: cold</li></ul>`);
    expect(page).toContain("x · not ready");
    expect(page).toContain("None yet.");
  });

  test.each([`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><b>`, `&lt;`, `</title><script>`])(
    "shows %s as text, in every field",
    (text) => {
      const tags = (page: string) => page.replaceAll(/>[^<]*</g, "><").match(/<[^>]*>/g)?.length;
      const page = statusPage(statusOf(text));
      expect(page).not.toContain(text);
      expect(page).not.toContain("<script");
      expect(tags(page)).toBe(tags(statusPage(statusOf("harmless"))));
    },
  );

  test("has the same tags whatever the texts are", () => {
    const tags = (page: string) => page.match(/<\/?[a-z][^<>]*>/g)?.map((tag) => tag.split(/[\s>]/)[0]);
    const expected = tags(statusPage(statusOf("harmless")));
    const markup = fc
      .array(fc.constantFrom("<", ">", '"', "'", "&", "script", "/", "=", " ", "a"))
      .map((parts) => parts.join(""));
    fc.assert(fc.property(markup, (text) => expect(tags(statusPage(statusOf(text)))).toEqual(expected)));
  });

  test("needs no script and nothing from elsewhere", () => {
    const page = statusPage(statusOf("x"));
    expect(page).not.toMatch(/<script|style=|\son\w+=|https?:/);
    expect(statusStyle).not.toMatch(/url\(|@import/);
  });
});
