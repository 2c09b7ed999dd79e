import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const template = join(import.meta.dirname, "../template");

/** The service that the template's files speak of. */
const MODEL = "tide-keeper";

/**
 * Every file of a new service, from the workspace's root. The template is a whole service by the name of tide-keeper,
 * in the folders where it would live; its files end in `.txt`, so that no tool takes them for sources.
 */
export function serviceFiles(name: string): ReadonlyMap<string, string> {
  const files = globSync("**/*.txt", { cwd: template }).sort();
  return new Map(
    files.map((file) => [
      renamed(file.slice(0, -".txt".length), name),
      renamed(readFileSync(join(template, file), "utf8"), name),
    ]),
  );
}

/** Puts one name for the other in each way of writing that the sources have. */
function renamed(text: string, name: string): string {
  return [kebab, snake, camel, pascal, flat, constant].reduce(
    (result, form) => result.replaceAll(form(MODEL), form(name)),
    text,
  );
}

const kebab = (name: string): string => name;
const snake = (name: string): string => name.replaceAll("-", "_");

/** As a variable is called: tideKeeper. */
export function camel(name: string): string {
  return name.replaceAll(/-([a-z0-9])/g, (_dash, letter: string) => letter.toUpperCase());
}

/** As a type is called: TideKeeper. */
export function pascal(name: string): string {
  return camel(`-${name}`);
}

/** As the API server's paths name a kind: tidekeeper. */
function flat(name: string): string {
  return name.replaceAll("-", "");
}

/** As a constant is called: TIDE_KEEPER. */
export function constant(name: string): string {
  return snake(name).toUpperCase();
}
