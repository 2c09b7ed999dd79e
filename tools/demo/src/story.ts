import type { KubeClient } from "@evenkeel/kube";
import type { Harbour } from "./harbour.ts";

/** What a story has to play on. */
export interface Stage {
  readonly kube: KubeClient;
  /** All stories share it: what one does to it must not be felt by the others. */
  readonly harbour: Harbour;
  /** Says what happens, on the terminal and on the page. */
  readonly tell: (line: string) => void;
}

/** Something that a person can make happen from the page. */
export interface Control {
  readonly name: string;
  readonly label: string;
  /** Gives the line to tell. */
  run(): Promise<string> | string;
}

/** A part of the story at speed: something happens, and what must come of it comes. */
export interface Check {
  /** A sentence: what must come of it. */
  readonly name: string;
  act?(): Promise<void> | void;
  /** Throws, or rejects, with what is missing until nothing is. */
  outcome(): Promise<void> | void;
}

/** A world that was built for one service. */
export interface Scene extends AsyncDisposable {
  /** For the service's command line, beside what every service on the stage gets. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly controls: readonly Control[];
  /** In order; each begins when the one before has come out. */
  readonly checks: readonly Check[];
  /** Lets the story run by itself until the returned function is called. */
  play(): () => void;
}

/** How one service shows what it does. It lives in `tools/demo/stories/<service>.ts`, as the default export. */
export interface Story {
  /** The folder in apps/ whose real main plays it. */
  readonly service: string;
  /** One line: what there is to see. */
  readonly about: string;
  open(stage: Stage): Promise<Scene>;
}
