import { expect, test } from "@jest/globals";
import { finalStage } from "./dockerfile.ts";

test("the last stage is read with its build arguments", () => {
  const text = [
    "FROM node AS builder",
    "RUN make",
    "# a comment",
    "FROM distroless",
    "ARG SERVICE",
    "WORKDIR /app",
    "COPY --from=builder /src/${SERVICE}/a /src/${SERVICE}/b ./",
    "COPY --from=builder /src/${SERVICE}/pages ./pages",
    "USER nonroot",
    "ENV A=1 B=2",
    'ENTRYPOINT ["/bin/node", "--flag"]',
    'CMD ["/app/a"]',
  ].join("\n");
  expect(finalStage(text, { SERVICE: "tide" })).toEqual({
    base: "distroless",
    copies: [
      { source: "tide/a", target: "/app/a" },
      { source: "tide/b", target: "/app/b" },
      { source: "tide/pages", target: "/app/pages" },
    ],
    folder: "/app",
    user: "nonroot",
    env: { A: "1", B: "2" },
    entry: ["/bin/node", "--flag"],
    command: ["/app/a"],
  });
});

test.each(["RUN touch /x", "ADD http://example.com/x /x"])("an instruction that hides files is refused: %s", (line) => {
  expect(() => finalStage(`FROM distroless\n${line}`, {})).toThrow(line);
});
