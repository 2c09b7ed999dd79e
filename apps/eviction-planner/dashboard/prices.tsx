import { Card, Empty, Fault, Loading, numberText, type PageProps, useLoaded } from "@evenkeel/dashboard/browser";
import { useState } from "preact/hooks";
import type { Prices as Answer } from "./plan.ts";

interface PricesProps extends Pick<PageProps, "api"> {
  readonly policy: string;
}

/** What each constraint costs. It takes several plans, so it is worked out only when somebody asks. */
export function Prices(props: PricesProps) {
  const [asked, setAsked] = useState(false);
  return (
    <Card title="Price of constraints">
      {asked ? (
        <Loaded {...props} />
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          Work out what each constraint costs
        </button>
      )}
    </Card>
  );
}

function Loaded({ policy, api }: PricesProps) {
  const { phase, data, fault } = useLoaded(policy, (signal) =>
    api.get<Answer>("Evictions/WhatIf", { policy, prices: "true" }, signal),
  );
  if (phase === "failed") return <Fault what="Prices" fault={fault} />;
  if (data === undefined) return <Loading what="prices" />;
  if (data.prices.length === 0) return <Empty title="No constraint costs anything" />;
  return (
    <table>
      <thead>
        <tr>
          <th>Constraint</th>
          <th>Set by</th>
          <th class="number">Costs σ</th>
          <th class="number">Evictions without it</th>
        </tr>
      </thead>
      <tbody>
        {data.prices.map(({ reason, by, sigma, evictions }) => (
          <tr key={`${reason} ${by}`}>
            <td>{reason}</td>
            <td>{by}</td>
            <td class="number">{numberText(sigma)}</td>
            <td class="number">{evictions}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
