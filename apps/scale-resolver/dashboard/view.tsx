import { Card, DecisionTable, defineView, Empty, Loading, type PageProps } from "@evenkeel/dashboard/browser";

/** What was decided of late, until there is more to show. */
function LoadPage({ api, service, decisions }: PageProps) {
  if (decisions === undefined) return <Loading what="decisions" />;
  return (
    <Card title="Last decisions">
      {decisions.length === 0 ? (
        <Empty title="Nothing was decided yet" />
      ) : (
        <DecisionTable api={api} service={service} decisions={decisions} />
      )}
    </Card>
  );
}

export default defineView({ title: "Load", summary: "What is kept level, and how it stands.", page: LoadPage });
