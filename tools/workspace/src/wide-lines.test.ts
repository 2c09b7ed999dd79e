import { expect, test } from "@jest/globals";
import { wideLinesOf } from "./wide-lines.ts";

const words = "word ".repeat(30).trim();
const solid = "x".repeat(150);

test.each([
  ["a.ts", "a comment of one line", `// ${words}`, true],
  ["a.ts", "a block of one line", `/** ${words} */`, true],
  ["a.ts", "a line of a block", `/**\n * ${words}\n */`, true],
  ["a.ts", "a list in a block", `/**\n * - ${words}\n */`, true],
  ["a.tsx", "an indented comment", `    // ${words}`, true],
  ["a.ts", "code, which Prettier wraps", `const a = "${words}";`, false],
  ["a.ts", "a link", `// ${solid}`, false],
  ["a.ts", "a drawing", `/**\n *     a ─▶ b   c ${words}\n */`, false],
  ["a.mjs", "a comment of a configuration", `// ${words}`, true],
  ["a.proto", "an indented comment", `  // ${words}`, true],
  ["a.go", "a comment", `// ${words}`, true],
  ["a.tpl", "a comment of one line", `{{/* ${words} */}}`, true],
  ["a.tpl", "a line of a comment", `{{- /*\n${words}\n*/}}`, true],
  ["a.tpl", "code after a comment", `{{/*\na\n*/}}\n{{ ${words} }}`, false],
  ["a.tpl", "a table in a comment", `{{/*\n| a   | ${words} |\n*/}}`, false],
  ["a.tpl", "a comment of YAML", `  # ${words}`, true],
  ["a.yaml", "a comment", `# ${words}`, true],
  ["a.yaml", "a value", `a: ${words}`, false],
  ["a.yaml", "a link", `# ${solid}`, false],
  ["Dockerfile", "a comment", `# ${words}`, true],
  ["Makefile", "a target with its help", `a: ## ${words}`, false],
  ["a.md", "prose", words, true],
  ["a.md", "an item", `- ${words}`, true],
  ["a.md", "the second line of an item", `1. a\n   ${words}`, true],
  ["a.md", "an item in an item", `- a\n  - ${words}`, true],
  ["a.md", "prose after a list", `- a\n\n${words}`, true],
  ["a.md", "prose after code", `\`\`\`\na\n\`\`\`\n${words}`, true],
  ["a.md", "a table", `| ${words} |`, false],
  ["a.md", "a heading", `# ${words}`, false],
  ["a.md", "fenced code", `\`\`\`\n${words}\n\`\`\``, false],
  ["a.md", "indented code", `    ${words}`, false],
  ["a.md", "indented code after a list", `- a\n\na\n\n    ${words}`, false],
  ["a.md", "code in an item", `- a\n\n      ${words}`, false],
  ["a.md", "a link", `- [a](${solid})`, false],
  ["a.md", "a picture", `![${words}](a.png)`, false],
  ["a.md", "a command", `\`${words}\``, false],
])("in %s, a wide line that is %s", (file, _, text, isFault) => {
  expect(wideLinesOf(file, text)).toHaveLength(isFault ? 1 : 0);
});

test("a fault names the file and the line", () => {
  expect(wideLinesOf("docs/a.md", `a\n\n${"b ".repeat(61).trim()}`)[0]).toMatch(/^docs\/a\.md:3 has 121 columns/);
  expect(wideLinesOf("docs/a.md", "b ".repeat(60))).toEqual([]);
});
