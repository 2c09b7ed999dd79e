import { runCommandLine } from "./command-line.ts";
import { foldersFrom } from "./folders.ts";

process.exitCode = await runCommandLine(process.argv.slice(2), {
  folders: foldersFrom(process.env),
  print: (line) => console.log(line),
  say: (line) => console.error(line),
});
