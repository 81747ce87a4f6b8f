// The default theme with system fonts: nothing to download, and no font requests.
export { default } from 'vitepress/theme-without-fonts'
