export { fleet, type Harbour, harbourKubeconfig, startHarbour } from "./harbour.ts";
export { loadStories } from "./stories.ts";
export type { Check, Control, Scene, Stage, Story } from "./story.ts";
