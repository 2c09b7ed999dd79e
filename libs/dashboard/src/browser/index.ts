export type { Api } from "./api/api.ts";
export { type Action, defineView, type PageProps, type View } from "./view.ts";
