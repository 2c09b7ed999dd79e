import { globSync } from "node:fs";
import { readText, workspaceRoot } from "./projects.ts";

/** Columns for prose in comments and Markdown. For code, Prettier does it. */
const WIDTH = 120;

const FILES = ["*.md", "{apps,charts,docs,infra}/**/*.md", "{apps,libs,tools}/**/*.{md,mjs,ts,tsx,ts.txt,tsx.txt}"];
const GENERATED = ["**/node_modules/**", "**/dist/**", "**/generated/**", "docs/reference/**", "docs/benchmarks/**"];

/** Lines of comments and of Markdown that are too wide and could be broken, one line each. */
export function wideLines(root = workspaceRoot): readonly string[] {
  return globSync(FILES, { cwd: root, exclude: GENERATED })
    .sort()
    .flatMap((file) => wideLinesOf(file, readText(file, root) ?? ""));
}

export function wideLinesOf(file: string, text: string): readonly string[] {
  const lines = text.split("\n");
  const isProse = file.endsWith(".md") ? proseOf(lines) : lines.map((line) => /^\s*(\/\/|\/\*|\*)/.test(line));
  return lines.flatMap((line, index) => {
    if (line.length <= WIDTH || isProse[index] !== true || !canBreak(line)) return [];
    return [`${file}:${index + 1} has ${line.length} columns: wrap it at ${WIDTH}`];
  });
}

/** Whether there is a space to break at. Links, code and what is laid out by several spaces stay in one piece. */
function canBreak(line: string): boolean {
  const content = line.replace(/^\s*(\/\/|\/\*\*?|\*|[-+*]|\d+[.)])?/, "");
  if (/\S {2,}\S/.test(content)) return false;
  const solid = content.trim().replace(/`[^`]*`|!\[[^\]]*\]/g, (piece) => piece.replaceAll(" ", "_"));
  return solid.slice(0, WIDTH - (line.length - solid.length)).includes(" ");
}

/** Which lines of a page are prose: none of fenced or indented code, tables and headings. */
function proseOf(lines: readonly string[]): readonly boolean[] {
  let isFenced = false;
  // Where the text of the current list item starts.
  let list = 0;
  return lines.map((line) => {
    const text = line.trimStart();
    const indent = line.length - text.length;
    const isFence = text.startsWith("```");
    if (isFence) isFenced = !isFenced;
    if (isFence || isFenced || text === "" || indent >= list + 4) return false;
    const marker = /^([-+*]|\d+[.)])\s+/.exec(text)?.[0];
    if (marker !== undefined) list = indent + marker.length;
    else if (indent === 0) list = 0;
    return !/^[|#]/.test(text);
  });
}
