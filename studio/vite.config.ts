import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { catalogues } from './catalogues.ts'

const here = dirname(fileURLToPath(import.meta.url))

const SERVER = 'http://127.0.0.1:20128'

/** `npm run studio` serves the sources, and asks the server on its usual port for everything else, as its own page would. */
export default defineConfig(({ command }) => ({
  root: here,
  // A build that went well has nothing to say.
  logLevel: command === 'build' ? 'warn' : 'info',
  plugins: [react(), catalogues()],
  build: {
    outDir: join(here, '../dist-studio'),
    emptyOutDir: true,
    assetsDir: 'studio/assets',
    // The page's policy forbids scripts and pictures that stand in the text.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
  },
  server: {
    proxy: {
      '^/(api|memory|memories|agents|health|openapi.json|docs|v1)(/|$)': {
        target: SERVER,
        changeOrigin: true,
        headers: { origin: SERVER },
      },
    },
  },
}))
