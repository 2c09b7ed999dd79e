import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Access } from "../api/access.ts";
import type { Api } from "../api/api.ts";
import { useDecisions } from "../decisions/use-decisions.ts";
import { useConnectionState, useLoaded } from "../live/hooks.ts";
import { DecisionsPage } from "../pages/decisions-page.tsx";
import { HealthPage } from "../pages/health-page.tsx";
import { OverviewPage } from "../pages/overview-page.tsx";
import { PeersPage } from "../pages/peers-page.tsx";
import { SettingsPage } from "../pages/settings-page.tsx";
import type { Status } from "../pages/status.ts";
import { Badge } from "../parts/badge.tsx";
import { Icon, type IconName, Mark } from "../parts/icon.tsx";
import { Empty, Fault, Loading } from "../parts/states.tsx";
import type { Action, View } from "../view.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { Banner, LiveSign } from "./banner.tsx";
import { type Route, useRoute } from "./route.ts";
import { SignIn } from "./sign-in.tsx";
import { ThemeSwitch } from "./theme.tsx";

interface Place {
  readonly page: string;
  readonly title: string;
  readonly summary: string;
  readonly icon: IconName;
}

/** Milliseconds between two requests of the service's state. */
const STATUS_INTERVAL = 3000;

function placesOf(view: View | undefined): readonly Place[] {
  return [
    { page: "", title: view?.title ?? "Overview", summary: view?.summary ?? "", icon: "view" },
    { page: "decisions", title: "Decisions", summary: "What was decided, and why.", icon: "decisions" },
    { page: "peers", title: "Peers", summary: "This service and the services that it calls.", icon: "peers" },
    { page: "health", title: "Health", summary: "Whether the service is ready, and why not.", icon: "health" },
    { page: "settings", title: "Settings", summary: "Every setting with its value and its source.", icon: "settings" },
  ];
}

export interface ShellProps {
  readonly api: Api;
  readonly access: Access;
  readonly view: View | undefined;
}

/** Everything around a page: name, navigation, state, colours, and the dialog of actions. */
export function Shell({ api, access, view }: ShellProps) {
  const route = useRoute();
  const status = useLoaded("status", (signal) => api.get<Status>("Runtime/Status", {}, signal), STATUS_INTERVAL);
  const decisions = useDecisions(api);
  const { act, dialog } = useActions(api, access);
  const { retryNow } = useConnectionState();
  const signIn = (token: string) => {
    access.token = token;
    status.reload();
    retryNow();
  };
  const places = placesOf(view);
  const place = places.find(({ page }) => page === route.page);
  const service = status.data?.service ?? "";
  const heading = useRef<HTMLHeadingElement>(null);

  const summary = place?.page === "" && !view ? (status.data?.summary ?? "") : (place?.summary ?? "");
  const title = place?.title ?? "Not found";
  useEffect(() => {
    document.title = service ? `${title} · ${service}` : title;
  }, [title, service]);

  const first = useRef(true);
  useEffect(() => {
    // Moves the focus to the new page for users of screen readers and keyboards, except for the first page.
    if (!first.current) heading.current?.focus({ preventScroll: true });
    first.current = false;
    scrollTo(0, 0);
  }, [route.page]);

  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), heading.current?.focus())}>
        Skip to content
      </a>
      <aside class="side">
        <div class="brand">
          <Mark />
          <div>
            <strong>{service || "Evenkeel"}</strong>
            <span class="quiet">{status.data ? `Evenkeel ${status.data.version}` : "\u00a0"}</span>
          </div>
        </div>
        <nav aria-label="Pages">
          <ul>
            {places.map(({ page, title: name, icon }) => (
              <li key={page}>
                <a href={`#/${page}`} aria-current={page === place?.page ? "page" : undefined}>
                  <Icon name={icon} />
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <LiveSign />
          {status.data && <Readiness status={status.data} />}
          <ThemeSwitch />
        </div>
      </aside>
      <main>
        {!status.denied && <Banner fault={status.phase === "loaded" ? status.fault : undefined} />}
        <header class="page-head">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          <p>{summary}</p>
        </header>
        {status.denied ? (
          <SignIn fault={status.fault ?? ""} onToken={signIn} />
        ) : place ? (
          <Content {...{ api, view, act, route, decisions, status }} />
        ) : (
          <Empty title="Page not found">
            <a href="#/">Overview</a>
          </Empty>
        )}
      </main>
      {dialog}
    </div>
  );
}

/** Nothing while the page is cut off: what was true then may not be now. */
function Readiness({ status: { unready } }: { readonly status: Status }) {
  const { phase } = useConnectionState();
  if (phase === "waiting") return null;
  return unready.length === 0 ? <Badge tone="ok">Ready</Badge> : <Badge tone="bad">Not ready</Badge>;
}

interface ContentProps {
  readonly api: Api;
  readonly view: View | undefined;
  readonly act: (action: Action) => Promise<boolean>;
  readonly route: Route;
  readonly decisions: ReturnType<typeof useDecisions>;
  readonly status: ReturnType<typeof useLoaded<Status>>;
}

function Content({ api, view, act, route, decisions, status: loaded }: ContentProps) {
  const { page, query } = route;
  const { data: status, fault, reload } = loaded;
  if (!status) {
    return fault === undefined ? (
      <Loading what="the service's state" />
    ) : (
      <Fault what="The service's state" fault={fault} retry={reload} />
    );
  }
  const { service } = status;
  if (page === "decisions") return <DecisionsPage {...{ api, service, decisions, query }} />;
  if (page === "peers") return <PeersPage {...{ api, status, decisions }} />;
  if (page === "health") return <HealthPage status={status} />;
  if (page === "settings") return <SettingsPage status={status} />;
  if (!view) return <OverviewPage {...{ api, status, decisions }} />;
  const Page = view.page;
  return <Page {...{ api, act, service, decisions, query }} />;
}

/** One dialog at a time. */
function useActions(api: Api, access: Access) {
  const [asked, setAsked] = useState<{ readonly action: Action; readonly done: (done: boolean) => void }>();
  const act = useCallback(
    (action: Action) =>
      new Promise<boolean>((resolve) => {
        const done = (outcome: boolean) => {
          setAsked(undefined);
          resolve(outcome);
        };
        setAsked({ action, done });
      }),
    [],
  );
  const dialog = asked && <ActionDialog api={api} action={asked.action} access={access} onDone={asked.done} />;
  return { act, dialog };
}
