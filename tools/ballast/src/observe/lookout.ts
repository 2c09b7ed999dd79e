import { watch } from "node:fs";
import type { Component, Running } from "@evenkeel/runtime";

/** Dies when the level file's folder goes away: an example of a component that cannot go on. */
export class Lookout implements Component {
  readonly name = "lookout";
  readonly #folder: string;
  #watcher: ReturnType<typeof watch> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  start({ fail }: Running): void {
    this.#watcher = watch(this.#folder, (event, name) => {
      if (event === "rename" && name === "iceberg") fail(new Error("an iceberg lies ahead"));
    });
    this.#watcher.on("error", fail);
  }

  stop(): void {
    this.#watcher?.close();
  }
}
