import { Card, Fault, Loading, type ObjectName, type PageProps, useLoaded } from "@evenkeel/dashboard/browser";
import { useState } from "preact/hooks";

interface TargetSearchProps extends Pick<PageProps, "api"> {
  readonly object: ObjectName;
}

/** Why a target is scraped by its collector, or by none. It is worked out when somebody asks. */
export function TargetSearch({ api, object }: TargetSearchProps) {
  const [asked, setAsked] = useState("");
  const ask = (event: SubmitEvent) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget as HTMLFormElement).get("target");
    setAsked(typeof value === "string" ? value.trim() : "");
  };
  return (
    <Card title="Why is my target not scraped?">
      <form class="target-search" onSubmit={ask}>
        <input name="target" aria-label="Target" placeholder="10.0.0.7:8080, shop/web-0 or app=web,team=shop" />
        <button type="submit">Explain</button>
      </form>
      {asked !== "" && <Answer key={asked} {...{ api, object, asked }} />}
    </Card>
  );
}

function Answer({ api, object, asked }: TargetSearchProps & { readonly asked: string }) {
  const { phase, data, fault } = useLoaded(asked, (signal) =>
    api.ask<{ readonly message: string }>("Collectors/Explain", { ...object, ...queryOf(asked) }, signal),
  );
  if (phase === "failed") return <Fault what="The answer" fault={fault} />;
  return data === undefined ? (
    <Loading what="the answer" />
  ) : (
    <p class="target-answer" role="status">
      {data.message}
    </p>
  );
}

/** Labels have an equals sign, pods a slash, and the rest is an address. */
function queryOf(text: string): object {
  if (text.includes("=")) return { labels: text.split(",").map((label) => label.trim()) };
  return text.includes("/") ? { pod: text } : { address: text };
}
