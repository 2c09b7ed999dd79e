import { describe, expect, test } from "@jest/globals";
import { documentedCommands, documentedTargets, inlineCommands, targetsOf } from "./documented-commands.ts";

const PAGE = `
Text with \`make help\` in it, and a list:

- an item

      kubectl create role x \\
        --verb=get

## Indented

    make charts images     # packs the charts
    kind: Deployment
    export const no = "command";
    export KUBECONFIG=…

\`\`\`yaml
make: me
\`\`\`

\`\`\`bash
# a comment
odd-program --flag   # and why
\`\`\`
`;

describe("the commands of a page", () => {
  test("are the lines of its shell fences and the indented lines that name a program", () => {
    expect(documentedCommands(PAGE)).toEqual([
      "kubectl create role x --verb=get",
      "make charts images",
      "export KUBECONFIG=…",
      "odd-program --flag",
    ]);
  });

  test("are those too in running text that run a program on Node", () => {
    const page =
      "<!-- by `node a.ts` -->\nRun `node b.ts\n--all`, `node_modules/.bin/node c.ts` or `nx d`; see `node -e`.\n";
    expect(inlineCommands(page)).toEqual(["node b.ts --all", "node_modules/.bin/node c.ts"]);
  });

  test("name targets of make in code and in text", () => {
    expect(documentedTargets(PAGE)).toEqual(["charts", "images", "help"]);
    expect(targetsOf("make new KIND=app NAME=x")).toEqual(["new"]);
    expect(targetsOf("make cli && install cli /usr/local/bin")).toEqual(["cli"]);
    expect(targetsOf("helm install evenkeel")).toEqual([]);
  });
});
