import { defineView } from "@evenkeel/dashboard/browser";
import { ClustersPage } from "./clusters-page.tsx";

export default defineView({
  title: "Clusters",
  summary: "Each cluster, its score, what is left there and how old that is.",
  page: ClustersPage,
});
