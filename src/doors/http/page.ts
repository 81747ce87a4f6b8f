import type { StoreReport } from '../../ports/store.ts'

type Overview = {
  readonly version: string
  readonly status: StoreReport
  readonly places: readonly {
    readonly owner: string
    readonly user: string | null
    readonly memories: number
  }[]
}

const PLACES_SHOWN_MAX = 100

/** A page that tells what is there. Every value is escaped: names of owners and users come from outside. */
export function renderPage({ version, status, places }: Overview): string {
  const shown = places.slice(0, PLACES_SHOWN_MAX)
  const rows = shown.map(
    ({ owner, user, memories }) =>
      `<tr><td>${escaped(owner)}</td><td>${user === null ? '–' : escaped(user)}</td><td class="n">${memories.toLocaleString('en')}</td></tr>`,
  )
  const hidden = places.length - shown.length
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Recollect</title>
<style>
  :root { color-scheme: light dark; --line: #8884; }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
  h1 { font-size: 1.75rem; margin: 0; }
  h1 small { font-size: 0.9rem; font-weight: normal; opacity: 0.65; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
  .n { text-align: right; font-variant-numeric: tabular-nums; }
  pre { background: #8881; padding: 0.9rem 1rem; border-radius: 0.5rem; overflow-x: auto; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1.25rem; }
  dt { opacity: 0.65; } dd { margin: 0; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Recollect <small>${escaped(version)}</small></h1>
<p>Long-term memory for LLM apps and agents. It is running.</p>
<h2>What is there</h2>
<dl>
<dt>Store</dt><dd>${escaped(status.kind)}, schema ${status.schemaVersion}</dd>
<dt>Memories</dt><dd>${status.rows.memory.toLocaleString('en')}</dd>
<dt>Earlier versions</dt><dd>${status.rows.revision.toLocaleString('en')}</dd>
</dl>
${
  rows.length === 0
    ? '<p>Nothing is remembered yet. Try this in a terminal:</p>'
    : `<table><thead><tr><th>Owner</th><th>User</th><th class="n">Memories</th></tr></thead><tbody>${rows.join('')}</tbody></table>
${hidden > 0 ? `<p>… and ${hidden.toLocaleString('en')} more.</p>` : ''}<p>Work with them in a terminal:</p>`
}
<pre>npx recollect add "I prefer tea over coffee"
npx recollect search tea
npx recollect list</pre>
<p>Health for machines: <code>/health/live</code>, <code>/health/ready</code>.</p>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
