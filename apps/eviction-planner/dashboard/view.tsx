import { CommonObjectsPage, defineView } from "@evenkeel/dashboard/browser";

/** What every service can show of its objects, until this one has more to show. */
export default defineView({
  title: "Levels",
  summary: "Each EvictionPlanner and its level.",
  page: (page) => <CommonObjectsPage {...page} kind="EvictionPlanner" />,
});
