import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { workspaceRoot } from "./projects.ts";

const folder = "libs/rpc/proto";

/** Every gRPC method, with the words of its proto. The JSON API has the same methods. */
export function protosPage(): string {
  const files = globSync("**/*.proto", { cwd: join(workspaceRoot, folder) }).sort();
  const intro =
    "# gRPC\n\nEvery method is also `/api/v1/<Service>/<Method>` on the admin port, as JSON; streams are server-sent events there. " +
    "The messages are in the files named below.\n";
  return (
    intro + files.map((file) => protoSection(file, readFileSync(join(workspaceRoot, folder, file), "utf8"))).join("")
  );
}

function protoSection(file: string, text: string): string {
  const pack = /^package ([\w.]+);/m.exec(text)?.[1] ?? "";
  let page = "";
  let comment: string[] = [];
  for (const line of text.split("\n").map((raw) => raw.trim())) {
    const [, service] = /^service (\w+)/.exec(line) ?? [];
    const [, method, request, stream, response] =
      /^rpc (\w+)\s*\((?:stream )?([\w.]+)\) returns \((stream )?([\w.]+)\)/.exec(line) ?? [];
    if (service !== undefined) {
      page += `\n## ${pack}.${service}\n\n${comment.join(" ")}\n\n[${file}](../../${folder}/${file})\n\n`;
      page += "| method | takes | gives | what it does |\n|---|---|---|---|\n";
    }
    if (method !== undefined) {
      const gives = `${stream === undefined ? "" : "stream of "}\`${response ?? ""}\``;
      page += `| \`${method}\` | \`${request ?? ""}\` | ${gives} | ${comment.join(" ").replaceAll("|", "\\|")} |\n`;
    }
    if (line.startsWith("//")) comment.push(line.replace(/^\/\/ ?/, ""));
    else comment = [];
  }
  return page;
}
