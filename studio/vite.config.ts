import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = dirname(fileURLToPath(import.meta.url))

const SERVER = 'http://127.0.0.1:20128'

/** `npm run studio` serves the sources and proxies API requests to a server on the default port. */
export default defineConfig(({ command }) => ({
  root: here,
  logLevel: command === 'build' ? 'warn' : 'info',
  plugins: [react()],
  build: {
    outDir: join(here, '../dist-studio'),
    emptyOutDir: true,
    assetsDir: 'studio/assets',
    // The Content-Security-Policy of the page forbids inline scripts and data: images.
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
