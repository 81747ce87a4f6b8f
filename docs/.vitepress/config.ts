/**
 * The documentation site. `npm run docs:build` writes static files to `dist-docs/`; they contain no inline script or style
 * and request nothing from other hosts, so a policy of `script-src 'self'; style-src 'self'` serves them.
 */
import { defineConfig } from 'vitepress'
import { decisionItems } from './decisions.ts'
import { createStyleSheet } from './highlight-classes.ts'
import {
  assertAnchorsExist,
  externalizeInlineScripts,
  externalizeStyleSheet,
  removeInlineStyles,
} from './static-output.ts'

const BASE = '/docs/'
const IS_BUILD = process.argv.includes('build')
const styleSheet = createStyleSheet()

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default defineConfig({
  title: 'Recollect',
  description: 'Long-term memory for LLM apps and agents.',
  lang: 'en-US',
  base: BASE,
  outDir: '../dist-docs',
  // Outside of `docs/`, which is part of the published package.
  cacheDir: '../node_modules/.vitepress',
  // Browsers request /favicon.ico without it.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  metaChunk: true,
  ignoreDeadLinks: false,
  vite: { publicDir: false, logLevel: 'warn' },
  markdown: {
    config(md) {
      const { highlight } = md.options
      // In watch mode no style sheet is written, so colors stay inline there.
      if (!IS_BUILD || !highlight) return
      md.options.highlight = (...block) => styleSheet.replaceStyles(highlight(...block))
    },
  },
  transformHtml(html) {
    return externalizeInlineScripts(externalizeStyleSheet(removeInlineStyles(html), BASE), BASE)
  },
  async buildEnd({ outDir }) {
    await styleSheet.write(outDir)
    await assertAnchorsExist(outDir, BASE)
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Get started', link: '/get-started/quickstart' },
      { text: 'Clients', link: '/clients/' },
      { text: 'Guides', link: '/guides/gateway' },
      { text: 'Reference', link: '/reference/settings' },
      { text: 'Operations', link: '/operations/deploy' },
      { text: 'Internals', link: '/internals/how-recall-works' },
    ],
    sidebar: [
      {
        text: 'Get started',
        items: [
          { text: 'Quickstart', link: '/get-started/quickstart' },
          { text: 'Install', link: '/get-started/install' },
          { text: 'First conversation', link: '/get-started/first-conversation' },
          { text: 'Connect a client', link: '/get-started/connect-a-client' },
        ],
      },
      {
        text: 'Clients',
        items: [
          { text: 'Which way in?', link: '/clients/' },
          { text: 'OpenAI SDK', link: '/clients/openai' },
          { text: 'Anthropic SDK', link: '/clients/anthropic' },
          { text: 'Google Gen AI SDK', link: '/clients/gemini' },
          { text: 'Vercel AI SDK', link: '/clients/ai-sdk' },
          { text: 'LangChain and LangGraph', link: '/clients/langchain' },
          { text: 'OpenAI Agents SDK', link: '/clients/openai-agents' },
          { text: 'Mastra', link: '/clients/mastra' },
          { text: 'LlamaIndex.TS', link: '/clients/llamaindex' },
          { text: 'LangGraph in Python', link: '/clients/python-langgraph' },
          { text: 'Claude Code', link: '/clients/claude-code' },
          { text: 'Codex', link: '/clients/codex' },
          { text: 'Gemini CLI', link: '/clients/gemini-cli' },
          { text: 'Cursor, VS Code, Windsurf, Zed', link: '/clients/editors' },
          { text: 'Claude Desktop', link: '/clients/claude-desktop' },
        ],
      },
      {
        text: 'Guides',
        items: [
          { text: 'Gateway', link: '/guides/gateway' },
          { text: 'REST API', link: '/guides/rest' },
          { text: 'MCP', link: '/guides/mcp' },
          { text: 'Command line', link: '/guides/cli' },
          { text: 'Library', link: '/guides/library' },
          { text: 'TypeScript client', link: '/guides/client' },
          { text: 'Python client', link: '/guides/python' },
          { text: 'Frameworks', link: '/guides/integrations' },
          { text: 'Server in your program', link: '/guides/embedding-server' },
          { text: 'Testing', link: '/guides/testing' },
          { text: 'Memory lifecycle', link: '/guides/memory-lifecycle' },
          { text: 'Embedding and reranking', link: '/guides/embedding' },
          { text: 'Memory in files', link: '/guides/files' },
          { text: 'Import and export', link: '/guides/import-export' },
          { text: 'Moving in', link: '/guides/moving' },
          { text: 'Studio', link: '/guides/studio' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Settings', link: '/reference/settings' },
          { text: 'Environment variables', link: '/reference/environment' },
          { text: 'API reference (interactive)', link: '/reference/api' },
          { text: 'REST operations', link: '/reference/rest' },
          { text: 'Commands', link: '/reference/cli' },
          { text: 'Errors', link: '/reference/errors' },
        ],
      },
      {
        text: 'Operations',
        items: [
          { text: 'Deploy', link: '/operations/deploy' },
          { text: 'PostgreSQL', link: '/operations/postgresql' },
          { text: 'Vector stores', link: '/operations/vector-stores' },
          { text: 'Security', link: '/operations/security' },
          { text: 'Encryption at rest', link: '/operations/encryption' },
          { text: 'Backup and recovery', link: '/operations/backup' },
          { text: 'Observability', link: '/operations/observability' },
          { text: 'Scale', link: '/operations/scale' },
        ],
      },
      {
        text: 'Internals',
        items: [
          { text: 'How recall works', link: '/internals/how-recall-works' },
          { text: 'Evals', link: '/internals/evals' },
          { text: 'Releasing', link: '/internals/releasing' },
          { text: 'Decisions', collapsed: true, items: decisionItems() },
        ],
      },
    ],
  },
})
