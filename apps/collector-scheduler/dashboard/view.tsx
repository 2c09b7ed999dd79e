import { defineView } from "@evenkeel/dashboard/browser";
import { FleetsPage } from "./fleets-page.tsx";
import "./view.css";

export default defineView({
  title: "Collectors",
  summary: "Each CollectorLoadBalancer, its collectors and their share of the targets.",
  page: FleetsPage,
});
