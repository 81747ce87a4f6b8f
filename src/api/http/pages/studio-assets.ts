/** Static files of the Studio. They hold no data: the page requests it with the user's key. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { lazy } from '../../../lib/single-flight.ts'
import { createStaticResponder, HTML_TYPE } from '../messages/response.ts'
import type { BuiltinRoute } from '../route.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': HTML_TYPE,
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
}

/** Content-hashed names are cacheable forever. */
const ASSETS = 'studio/assets/'

/**
 * Scripts and connections are same-origin only. Inline styles are allowed because menus and dialogs
 * set their position.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Only files that exist at startup are served, so no path can escape the folder. */
export function createStudioRoutes(folder: string): readonly BuiltinRoute[] {
  const files = filesIn(folder)
  const page = files.find((file) => file === 'index.html')
  if (page === undefined) return []
  const rest = files.filter((file) => file !== page)
  return [
    routeTo('/', 'The Studio: a page to see and correct what is remembered.', folder, page),
    routeTo('/studio/{page}', 'A page of the Studio.', folder, page),
    ...rest.map((file) => routeTo(`/${file}`, 'A part of the Studio.', folder, file)),
  ]
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort()
  } catch {
    return []
  }
}

function routeTo(path: string, summary: string, folder: string, file: string): BuiltinRoute {
  const type = TYPES[extname(file)] ?? HTML_TYPE
  const answer = lazy(() => createStaticResponder(type, readFileSync(join(folder, file), 'utf8')))
  return {
    method: 'GET',
    path,
    summary,
    access: 'open',
    isUndocumented: path !== '/',
    answers: { 200: type.split(';')[0] ?? type },
    handle: async ({ request, response }) => {
      response.setHeader('content-security-policy', POLICY)
      response.setHeader(
        'cache-control',
        file.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
      await answer()(request, response)
    },
  }
}
