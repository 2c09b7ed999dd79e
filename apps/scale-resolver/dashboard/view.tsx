import { defineView } from "@evenkeel/dashboard/browser";
import { ServicesPage } from "./services-page.tsx";
import "./view.css";

export default defineView({
  title: "Services",
  summary: "Each Service that may sleep, where it stands, who waits, and what keeps it awake.",
  page: ServicesPage,
});
