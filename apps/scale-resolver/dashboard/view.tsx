import { defineView } from "@evenkeel/dashboard/browser";
import { ServicesPage } from "./services-page.tsx";
import "./view.css";

export default defineView({
  title: "Services",
  summary: "Each Service with its state, its waiting requests, and what keeps it awake.",
  page: ServicesPage,
});
