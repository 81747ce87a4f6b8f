import { escapeHtml, renderHtmlPage } from './html.ts'

/** What the page shows to a caller with a key. */
export type HomePageData = {
  readonly store: string
  readonly places: readonly {
    readonly owner: string
    readonly user: string | null
    readonly memories: number
  }[]
}

const PLACES_SHOWN_MAX = 100

/**
 * The home page: anonymous visitors learn that the server runs, callers with a key also see owners
 * and counts.
 */
export function renderHomePage(version: string, overview: HomePageData | null): string {
  return renderHtmlPage(
    'Recollect',
    `<h1>Recollect <small>${escapeHtml(version)}</small></h1>
<p>Long-term memory for LLM apps and agents. It is running.</p>
${overview === null ? '' : renderOverview(overview)}<h2>Where to go</h2>
<ul>
<li><a href="/docs">Documentation</a>, the <a href="/docs/api">API reference</a>, and <a href="/openapi.json">the same for programs</a></li>
<li>Health for machines: <a href="/health/live">/health/live</a>, <a href="/health/ready">/health/ready</a></li>
</ul>
<p>In a terminal:</p>
<pre>npx recollect add "I prefer tea over coffee"
npx recollect search tea
npx recollect list</pre>`,
  )
}

function renderOverview({ store, places }: HomePageData): string {
  const total = places.reduce((sum, { memories }) => sum + memories, 0)
  return `<h2>What is there</h2>
<dl>
<dt>Store</dt><dd>${escapeHtml(store)}</dd>
<dt>Memories</dt><dd>${total.toLocaleString('en')}</dd>
</dl>
${places.length === 0 ? '<p>Nothing is remembered yet.</p>' : renderPlaces(places)}
`
}

function renderPlaces(places: HomePageData['places']): string {
  const shown = places.slice(0, PLACES_SHOWN_MAX)
  const rows = shown.map(
    ({ owner, user, memories }) =>
      `<tr><td>${escapeHtml(owner)}</td><td>${user === null ? '–' : escapeHtml(user)}</td><td class="n">${memories.toLocaleString('en')}</td></tr>`,
  )
  const hidden = places.length - shown.length
  return `<table><thead><tr><th>Owner</th><th>User</th><th class="n">Memories</th></tr></thead><tbody>${rows.join('')}</tbody></table>
${hidden > 0 ? `<p>… and ${hidden.toLocaleString('en')} more.</p>` : ''}`
}
