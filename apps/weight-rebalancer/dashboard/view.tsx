import { defineView } from "@evenkeel/dashboard/browser";
import "./view.css";
import { WeightsPage } from "./weights-page.tsx";

export default defineView({
  title: "Weights",
  summary: "Each Rebalance with its metric and its weight.",
  page: WeightsPage,
});
