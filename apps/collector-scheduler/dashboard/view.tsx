import { CommonObjectsPage, defineView } from "@evenkeel/dashboard/browser";

export default defineView({
  title: "Collectors",
  summary: "Each CollectorLoadBalancer, its collectors and their share of the targets.",
  page: (page) => <CommonObjectsPage {...page} kind="CollectorLoadBalancer" />,
});
