/** Something that a stage takes from the build. */
export interface Copy {
  /** Path in the workspace. */
  readonly source: string;
  /** Absolute path in the image. */
  readonly target: string;
}

/** What the last stage of a Dockerfile makes of the image. */
export interface FinalStage {
  readonly base: string;
  readonly copies: readonly Copy[];
  /** Where the program starts. */
  readonly folder: string;
  readonly user: string;
  readonly env: Readonly<Record<string, string>>;
  /** The program that runs, with the arguments that come before the command's. */
  readonly entry: readonly string[];
  readonly command: readonly string[];
}

const WORKSPACE = "/src/";

/**
 * Reads the last stage, with build arguments filled in. Throws for an instruction that it does not know, so that
 * nothing gets into the image that a test would not see.
 */
export function finalStage(text: string, args: Readonly<Record<string, string>>): FinalStage {
  const lines = text
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => args[name] ?? ""));
  const [from = "", ...rest] = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  let folder = "/";
  let user = "";
  let entry: readonly string[] = [];
  let command: readonly string[] = [];
  const env: Record<string, string> = {};
  const copies: Copy[] = [];
  for (const line of rest) {
    const [instruction = "", ...words] = line.split(/\s+/);
    switch (instruction) {
      case "WORKDIR":
        folder = words[0] ?? "/";
        break;
      case "USER":
        user = words[0] ?? "";
        break;
      case "ENTRYPOINT":
        entry = JSON.parse(words.join(" ")) as string[];
        break;
      case "CMD":
        command = JSON.parse(words.join(" ")) as string[];
        break;
      case "COPY":
        copies.push(...copiesOf(words, folder));
        break;
      case "ARG":
      case "LABEL":
      case "EXPOSE":
        break;
      case "ENV":
        for (const [name = "", value = ""] of words.map((word) => word.split("="))) env[name] = value;
        break;
      default:
        throw new Error(`the last stage has an instruction that no test looks at: ${line}`);
    }
  }
  return { base: from.replace(/^FROM /, ""), copies, folder, user, env, entry, command };
}

function copiesOf(words: readonly string[], folder: string): readonly Copy[] {
  const paths = words.filter((word) => !word.startsWith("--"));
  const target = new URL(paths.at(-1) ?? "", `file://${folder}/`).pathname;
  return paths.slice(0, -1).map((path) => {
    if (!path.startsWith(WORKSPACE)) throw new Error(`${path} is not of the workspace`);
    const source = path.slice(WORKSPACE.length);
    // Several sources, or a target that ends in a slash, mean a folder.
    return { source, target: target.endsWith("/") ? target + (source.split("/").at(-1) ?? "") : target };
  });
}
