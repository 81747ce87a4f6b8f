// The default theme with system fonts: nothing to download, and no font requests.
import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import ApiConsole from './ApiConsole.vue'

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('ApiConsole', ApiConsole)
  },
} satisfies Theme
