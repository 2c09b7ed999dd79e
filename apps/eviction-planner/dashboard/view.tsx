import { defineView } from "@evenkeel/dashboard/browser";
import { PoliciesPage } from "./policies-page.tsx";
import "./view.css";

export default defineView({
  title: "Plans",
  summary: "Each RebalancePolicy with its plan: what would be evicted, what stays, and why.",
  page: PoliciesPage,
});
