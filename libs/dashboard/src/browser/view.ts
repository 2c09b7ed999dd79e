import type { ComponentType } from "preact";
import type { Api } from "./api/api.ts";
import type { Decision } from "./decisions/decision.ts";

/**
 * What an app adds to the dashboard: the default export of its `dashboard/view.tsx`, created by `defineView`. The shell
 * knows a service only through this.
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
  /** The last decisions of the service, the newest first, followed live. Undefined until they are known. */
  readonly decisions: readonly Decision[] | undefined;
  /** The query of the page's address, such as the selected object. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * Asks the user to confirm, and for a bearer token if there is none, and runs the action. Resolves with whether it
   * was done.
   */
  readonly act: (action: Action) => Promise<boolean>;
}

/** A call that changes something. The service checks the caller's rights. */
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
