/**
 * Pages without scripts or external resources. Every value is escaped, because names are user
 * input.
 */

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export function renderHtmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
  :root { color-scheme: light dark; --line: #8884; }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
  h1 { font-size: 1.75rem; margin: 0; }
  h1 small { font-size: 0.9rem; font-weight: normal; opacity: 0.65; }
  h2 { margin-top: 2.5rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
  .n { text-align: right; font-variant-numeric: tabular-nums; }
  code, pre { font: 0.9em ui-monospace, monospace; }
  pre { background: #8881; padding: 0.9rem 1rem; border-radius: 0.5rem; overflow-x: auto; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1.25rem; }
  dt { opacity: 0.65; } dd { margin: 0; overflow-wrap: anywhere; }
  details { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
  summary { cursor: pointer; }
  summary b { display: inline-block; min-width: 4.5rem; }
  summary span { opacity: 0.7; display: block; padding-left: 1.2rem; }
</style>
</head>
<body>
${body}
</body>
</html>
`
}
