import { defineView } from "@evenkeel/dashboard/browser";
import { ClustersPage } from "./clusters-page.tsx";
import "./view.css";

export default defineView({
  title: "Clusters",
  summary: "Workloads over the clusters, and each cluster with its score, its free capacity and the age of its score.",
  page: ClustersPage,
});
