import { defineView } from "@evenkeel/dashboard/browser";
import "./view.css";
import { WeightsPage } from "./weights-page.tsx";

export default defineView({
  title: "Weights",
  summary: "Each Rebalance, what it follows, and where its weight stands.",
  page: WeightsPage,
});
