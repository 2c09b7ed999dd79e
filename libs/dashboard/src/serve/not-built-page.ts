/**
 * What `/dashboard` says while its files are missing. It uses the status page's style, which the program itself holds.
 */
export function notBuiltPage(code: string, message: string): string {
  const [before = "", command = "", after = ""] = escape(message).split("`");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dashboard not built</title>
<link rel="stylesheet" href="../status.css">
</head>
<body>
<header><h1>The dashboard is not built</h1><p>${before}<code>${command}</code>${after}.</p>
<p class="quiet">${escape(code)} · the service itself runs; <a href="../">its status page</a> needs no build</p></header>
</body>
</html>
`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
