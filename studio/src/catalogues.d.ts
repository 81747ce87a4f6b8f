/** See `studio/catalogues.ts`. */
declare module '*?catalogue' {
  export const address: string
}
