/** First words by which an indented line is known as a command, as opposed to a manifest or to output. */
const PROGRAMS =
  /^(export [A-Z]+=|(make|node|npm|npx|nx|helm|kubectl|kubectl-evenkeel|curl|docker|buildah|install|git|istioctl|\S*node_modules\/\S+) )/;

/**
 * The shell commands that a page tells its reader to run: each line of a fence marked bash or sh, and each indented
 * line that starts with a program's name. Comments and line continuations are resolved.
 */
export function documentedCommands(markdown: string): readonly string[] {
  let fence: string | undefined;
  const commands: string[] = [];
  for (const line of markdown.replaceAll(/\s*\\\n\s*/g, " ").split("\n")) {
    const [, mark] = /^\s*```(\S*)/.exec(line) ?? [];
    if (mark !== undefined) {
      fence = fence === undefined ? mark : undefined;
      continue;
    }
    const text = line.trim().replace(/\s+# .*$/, "");
    const isCommand = fence === undefined ? /^ {4}/.test(line) && PROGRAMS.test(text) : /^(bash|sh)$/.test(fence);
    if (isCommand && text !== "" && !text.startsWith("#")) commands.push(text);
  }
  return commands;
}

/** The commands in running text that run a program on Node. */
export function inlineCommands(markdown: string): readonly string[] {
  const text = markdown.replaceAll(/<!--[^]*?-->/g, "");
  return [...text.matchAll(/`((?:\S*\/)?(?:node|npx)\s+\w[^`]+)`/g)].map(([, command = ""]) =>
    command.replaceAll(/\s+/g, " "),
  );
}

/** The targets of every `make` that a page names, in commands and in running text. */
export function documentedTargets(markdown: string): readonly string[] {
  const inText = [...markdown.matchAll(/`(make [^`]+)`/g)].map(([, command = ""]) => command);
  return [...documentedCommands(markdown), ...inText].flatMap(targetsOf);
}

/** `make charts images TAG=x` → charts, images. Nothing for other commands. */
export function targetsOf(command: string): readonly string[] {
  const [program, ...words] = command.replace(/\s*&&.*/, "").split(/\s+/);
  return program === "make" ? words.filter((word) => /^[a-z0-9-]+$/.test(word) && !word.startsWith("-")) : [];
}
