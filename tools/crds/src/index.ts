export { customResourceDefinition, openApiSchema } from "./crd.ts";
export { driftedFiles, generatedFiles, writeFiles } from "./files.ts";
export { structuralSchema, type StructuralSchema } from "./structural-schema.ts";
