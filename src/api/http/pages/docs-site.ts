/** Routes of the documentation site, which `npm run docs:build` builds. Without it, `/docs` says how to build it. */
import { HTML_TYPE, send } from '../messages/response.ts'
import type { BuiltinRoute } from '../request-context.ts'
import { renderHtmlPage } from './html.ts'
import { createFileRoute, listStaticFiles } from './static-files.ts'

const BASE = '/docs'
/** Content-hashed names, except for the style sheet of code blocks. */
const HASHED_ASSET = /^assets\/(?:.*[-.][\w-]{8}\.|inline-)/
const SUMMARY = 'The documentation.'

/** The theme's own style that turns transitions off while it switches between light and dark. */
const THEME_STYLE_HASH = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='"

/** Everything comes from this server, the interactive API reference asks it, and nothing else is inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${THEME_STYLE_HASH}`,
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function createDocsRoutes(folder: string | undefined): readonly BuiltinRoute[] {
  const files = folder === undefined ? [] : listStaticFiles(folder)
  if (folder === undefined || !files.includes('index.html')) return [missingSiteRoute()]
  const routeTo = (path: string, file: string) =>
    createFileRoute({
      ...{ path, summary: SUMMARY, folder, file },
      contentSecurityPolicy: POLICY,
      isImmutable: HASHED_ASSET.test(file),
      isUndocumented: true,
    })
  const pages = files.filter((file) => file.endsWith('.html') && !file.endsWith('index.html'))
  return [
    redirectRoute(),
    routeTo(`${BASE}/`, 'index.html'),
    ...files.map((file) => routeTo(`${BASE}/${file}`, file)),
    // Links without the ending work as well.
    ...pages.map((file) => routeTo(`${BASE}/${file.replace(/\.html$/, '')}`, file)),
  ]
}

/** Links of the home page are relative to the slash. */
function redirectRoute(): BuiltinRoute {
  return {
    method: 'GET',
    path: BASE,
    summary: SUMMARY,
    access: 'open',
    isUndocumented: true,
    answers: { 308: null },
    handle: async ({ response }) => {
      response.writeHead(308, { location: `${BASE}/`, 'content-length': 0 })
      response.end()
    },
  }
}

function missingSiteRoute(): BuiltinRoute {
  const page = renderHtmlPage(
    'Recollect documentation',
    `<h1>Documentation</h1>
<p>The documentation site is not built on this server. In a clone of the repository, build it with:</p>
<pre>npm run docs:build</pre>
<p>The <a href="/docs/api">API reference</a> is available, also <a href="/openapi.json">for programs</a>.</p>`,
  )
  return {
    method: 'GET',
    path: BASE,
    summary: SUMMARY,
    access: 'open',
    isUndocumented: true,
    answers: { 200: 'text/html' },
    handle: ({ request, response }) => send(request, response, 200, HTML_TYPE, page),
  }
}
