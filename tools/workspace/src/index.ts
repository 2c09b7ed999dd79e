export { type Project, readProjects, workspaceRoot } from "./projects.ts";
