/** Addresses relative to `/dashboard/`. */
export interface IndexFiles {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}

/** The page that loads everything else. It paints its colours and says that it is loading before any script runs. */
export function indexPage({ script, style, icon }: IndexFiles): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Evenkeel</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="app"><p class="booting">Loading…</p></div>
<noscript><p class="booting">This page needs JavaScript. <a href="../">The status page</a> does without.</p></noscript>
</body>
</html>
`;
}
