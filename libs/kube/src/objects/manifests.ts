import { parseAllDocuments } from "yaml";

/** The objects of a manifest, in YAML or JSON. What is not YAML throws a SyntaxError that names the place. */
export function parseManifests(text: string): readonly unknown[] {
  const documents = [...parseAllDocuments(text)];
  const [fault] = documents.flatMap(({ errors }) => errors);
  if (fault !== undefined) throw new SyntaxError(fault.message, { cause: fault });
  return documents.map((document) => document.toJS() as unknown).filter((object) => object !== null);
}
