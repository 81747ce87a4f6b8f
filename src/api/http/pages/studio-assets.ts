/** Routes of the Studio. Its files hold no data: the page requests it with the user's key. */
import type { BuiltinRoute } from '../request-context.ts'
import { createFileRoute, listStaticFiles } from './static-files.ts'

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

export function createStudioRoutes(folder: string): readonly BuiltinRoute[] {
  const files = listStaticFiles(folder)
  const page = files.find((file) => file === 'index.html')
  if (page === undefined) return []
  const rest = files.filter((file) => file !== page)
  const routeTo = (path: string, summary: string, file: string) =>
    createFileRoute({
      ...{ path, summary, folder, file },
      contentSecurityPolicy: POLICY,
      isImmutable: file.startsWith(ASSETS),
      isUndocumented: path !== '/',
    })
  return [
    routeTo('/', 'The Studio: a page to see and correct what is remembered.', page),
    routeTo('/studio/{page}', 'A page of the Studio.', page),
    ...rest.map((file) => routeTo(`/${file}`, 'A part of the Studio.', file)),
  ]
}
