import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = dirname(fileURLToPath(import.meta.url))

/** `npm run studio` serves the sources and asks the server on port 4777 for everything else. */
export default defineConfig({
  root: here,
  plugins: [react()],
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
      '^/(api|memory|memories|agents|health|openapi.json|docs|v1)(/|$)': 'http://127.0.0.1:4777',
    },
  },
})
