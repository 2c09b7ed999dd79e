export { fleet, harbourKubeconfig, startHarbour } from "./harbour.ts";
export type { Check, Control, Scene, Stage, Story } from "./story.ts";
