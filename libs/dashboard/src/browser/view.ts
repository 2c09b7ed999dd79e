import type { ComponentType } from "preact";
import type { Api } from "./api/api.ts";
import type { Decision } from "./decisions/decision.ts";

/**
 * What an app adds to the dashboard: the default export of its `dashboard/view.tsx`, made by `defineView`. The shell knows no
 * service but through this.
 */
export interface View {
  /** In the navigation and over the page; one word, such as `Weights`. */
  readonly title: string;
  /** One sentence under the title. */
  readonly summary: string;
  readonly page: ComponentType<PageProps>;
}

export interface PageProps {
  readonly api: Api;
  /** Name of the service. */
  readonly service: string;
  /** The last decisions of the service, the newest first, followed live. Nothing while they were not told yet. */
  readonly decisions: readonly Decision[] | undefined;
  /** What stands after `?` in the page's own address, such as the chosen object. */
  readonly query: Readonly<Record<string, string>>;
  /** Asks the user to confirm, takes a bearer token where none was given yet, and does it. Resolves with whether it was done. */
  readonly act: (action: Action) => Promise<boolean>;
}

/** A call that changes something. The service checks the caller's rights; the page only asks. */
export interface Action {
  /** What the button says, such as `Pause`. */
  readonly title: string;
  /** What will happen, in a sentence or two, with the object's name. */
  readonly consequence: string;
  /** `<Service>/<Method>` under `/api/v1`. */
  readonly method: string;
  readonly request: unknown;
}

/** Gives a view its type, and the compiler the chance to check it. */
export function defineView(view: View): View {
  return view;
}
