import { globSync } from "node:fs";
import { readText, workspaceRoot } from "./projects.ts";

/** Columns for prose in comments and Markdown. For code, Prettier does it. */
const WIDTH = 120;

const FILES = [
  "*.{md,cjs,mjs,yml}",
  "Makefile",
  "{apps,charts,docs,infra}/**/*.md",
  "{apps,libs,tools}/**/*.{md,cjs,mjs,ts,tsx,ts.txt,tsx.txt,proto,go,sh}",
  "{charts,tools}/**/*.tpl",
  "{charts,docs,infra}/**/*.{yaml,yml}",
  "infra/**/{Dockerfile,Jenkinsfile}",
];
/** Generated files, and sources whose text is in the key of programs that take minutes to build. */
const LEFT_OUT = [
  ...["**/node_modules/**", "**/dist/**", "**/generated/**", "charts/*/files/**", "docs/reference/**"],
  ...["docs/benchmarks/**", "tools/{control-plane,telemetry}/go/**"],
];

/** Lines of comments and of Markdown that are too wide and could be broken, one line each. */
export function wideLines(root = workspaceRoot): readonly string[] {
  return globSync(FILES, { cwd: root, exclude: LEFT_OUT })
    .sort()
    .flatMap((file) => wideLinesOf(file, readText(file, root) ?? ""));
}

export function wideLinesOf(file: string, text: string): readonly string[] {
  const lines = text.split("\n");
  const isProse = file.endsWith(".md") ? proseOf(lines) : commentsOf(file, lines);
  return lines.flatMap((line, index) => {
    if (line.length <= WIDTH || isProse[index] !== true || !canBreak(line)) return [];
    return [`${file}:${index + 1} has ${line.length} columns: wrap it at ${WIDTH}`];
  });
}

/** Whether there is a space to break at. Links, code and what is laid out by several spaces stay in one piece. */
function canBreak(line: string): boolean {
  const content = line.replace(/^\s*(\/\/|(\{\{-? ?)?\/\*\*?|\*|#|[-+*]|\d+[.)])?/, "");
  if (/\S {2,}\S/.test(content)) return false;
  const solid = content.trim().replace(/`[^`]*`|!\[[^\]]*\]/g, (piece) => piece.replaceAll(" ", "_"));
  return solid.slice(0, WIDTH - (line.length - solid.length)).includes(" ");
}

/** Which lines begin with a comment, or are in a comment of a Helm template. */
function commentsOf(file: string, lines: readonly string[]): readonly boolean[] {
  const isOfHash = /(\.(sh|tpl|ya?ml)|Dockerfile|Makefile)$/.test(file);
  let isOpen = false;
  return lines.map((line) => {
    if (!isOfHash) return /^\s*(\/\/|\/\*|\*)/.test(line);
    isOpen ||= /^\s*\{\{-? ?\/\*/.test(line);
    const isComment = isOpen || /^\s*#/.test(line);
    if (line.includes("*/")) isOpen = false;
    return isComment;
  });
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
