import { defineError } from "@evenkeel/runtime";

export const PeerAnswer = defineError({
  code: "EK_DASHBOARD_PEER_ANSWER",
  recovery: "retryable",
  message: "{peer} answered {path} with {fault}",
  remedy:
    "The dashboard shows the peer as down. Check that --dashboard-peers names the admin port of a service of this family.",
});

export const NotBuilt = defineError({
  code: "EK_DASHBOARD_NOT_BUILT",
  recovery: "terminal",
  message: "the files of the dashboard are missing; `nx run {app}:dashboard` builds them",
  remedy:
    "From source, run the command. In an image, the folder `dashboard` must be next to main.mjs. Everything else works without it.",
});
